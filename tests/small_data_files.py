"""Small files of the same format as the public ones, and a server that hands files out."""

import gzip
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

ADULT_ROW = (
    "{age}, {work}, 77516, Bachelors, 13, Never-married, {job}, Husband, {race}, {sex}, 2174, 0, 40, {country}, {y}"
)


def write(path, text):
    """Write text, gzipped if the name says so, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def adult_text(n_rows, *, test=False, seed=0):
    random = np.random.default_rng(seed)
    end = "." if test else ""
    lines = ["|1x3 Cross validator"] if test else []
    for i in range(n_rows):
        lines.append(
            ADULT_ROW.format(
                age=20 + i,
                work="?" if i % 5 == 0 else "Private",
                job="?" if i % 5 == 0 else random.choice(["Sales", "Tech-support"]),
                race=random.choice(["White", "Black"]),
                sex=random.choice(["Male", "Female"]),
                country="Outlying-US(Guam-USVI-etc)" if i % 3 == 0 else "United-States",
                y=(">50K" if i % 4 == 0 else "<=50K") + end,
            )
        )
    return "\n".join(lines) + "\n\n"


def acs_text(n_rows):
    """Rows with coarse codes, as in the merged file; income depends on schooling, hours and sex."""
    random = np.random.default_rng(0)
    schooling, hours, sex = (
        random.integers(10, 25, n_rows),
        random.integers(10, 60, n_rows),
        random.integers(1, 3, n_rows),
    )
    columns = {
        "AGEP": random.integers(17, 80, n_rows), "COW": random.integers(1, 9, n_rows), "SCHL": schooling,
        "MAR": random.integers(1, 3, n_rows), "OCCP": random.integers(1, 9, n_rows) * 100,
        "POBP": random.integers(1, 9, n_rows), "RELP": random.integers(0, 18, n_rows), "WKHP": hours, "SEX": sex,
        "RAC1P": random.choice([1, 2, 3, 5], n_rows, p=[0.4, 0.3, 0.15, 0.15]),
        "PINCP": (schooling / 5 + hours / 15 - sex + random.normal(size=n_rows) > 5).astype(int),
    }  # fmt: skip
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def communities_text(n_rows, *, n_columns=128, seed=0):
    """Two of the columns have missing values: LemasSwornFT in most rows, OtherPerCap in one."""
    random = np.random.default_rng(seed)
    lines = []
    for i in range(n_rows):
        values = [f"{v:.2f}" for v in random.random(n_columns)]
        values[:5] = ["8", "?", "?", "Lakewoodcity", "1"]
        values[7] = "0.23" if i == 0 else "0.22" if i == 1 else values[7]
        if n_columns == 128:
            values[101] = "?" if i else "0.03"
            values[30] = "?" if i == 2 else values[30]
        lines.append(",".join(values))
    return "\n".join(lines) + "\n"


COMPAS_HEADER = (
    "sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid"
)
COMPAS_ROWS = (
    "Male,69,Greater than 45,Other,0,1,0,0,0,-1.0,F,0,Low,0",
    "Male,34,25 - 45,African-American,0,3,0,0,2,-1.0,M,1,Low,1",
    "Female,24,Less than 25,Caucasian,0,4,0,1,4,30.0,F,1,Low,1",
    "Male,24,Less than 25,Caucasian,0,4,0,1,4,31.0,F,1,Low,1",  # screened too late
    "Male,24,Less than 25,Caucasian,0,4,0,1,4,,F,1,Low,1",  # screening unknown
    "Male,24,Less than 25,Caucasian,0,4,0,1,4,0.0,O,1,Low,1",  # traffic offence
    "Male,24,Less than 25,Caucasian,0,4,0,1,4,0.0,F,-1,Low,1",  # no case found
    "Male,24,Less than 25,Caucasian,0,4,0,1,4,0.0,F,1,N/A,1",  # no score
)


def compas_text():
    return "\n".join([COMPAS_HEADER, *COMPAS_ROWS]) + "\n"


def fairjob_text(n_rows, *, seed=0):
    random = np.random.default_rng(seed)
    names = [
        "click",
        "protected_attribute",
        "senior",
        "displayrandom",
        "rank",
        "user_id",
        "impression_id",
        "product_id",
    ]
    columns = {name: random.integers(0, 2, n_rows) for name in names}
    columns |= {f"cat{i}": random.integers(0, 5, n_rows) for i in range(13)}
    columns |= {f"num{i}": random.integers(-9, 9, n_rows) / 4 for i in range(16, 51)}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


LAW_TEXT = """,race,sex,LSAT,UGPA,region_first,ZFYA,sander_index,first_pf
0,White,1,39.0,3.1,GL,-0.98,0.78,1.0
1,Black,2,36.0,3.0,MS,0.09,0.73,0.0
2,White,2,30.0,3.1,MS,-0.35,0.67,1.0
"""

PREPARED_TEXT = """AGEP,COW,SCHL,MAR,OCCP,POBP,RELP,WKHP,SEX,RAC1P,PINCP
40,1,21,1,20,47,0,66,1,1,1
57,1,22,2,1750,47,0,45,1,2,1
36,1,16,2,5740,47,0,40,2,3,0
36,1,16,2,5740,47,0,40,2,4,0
36,1,16,2,5740,47,0,40,2,5,0
"""

PERSON_TEXT = """RT,SERIALNO,PWGTP,AGEP,COW,SCHL,MAR,OCCP,POBP,{relation},WKHP,SEX,RAC1P,PINCP
P,2018GQ01,10,40,1,21,1,0020,47,0,66,1,1,50001
P,2018GQ02,11,57,,22,5,1750,47,0,45,2,2,50000
P,2018GQ03,12,36,1,16,2,5740,47,0,40,2,3,120
P,2018GQ04,13,36,1,16,2,5740,47,0,40,1,6,99999
P,2018GQ05,14,36,1,16,2,5740,47,0,40,1,9,99999
P,2018GQ06,15,16,1,16,2,5740,47,0,40,1,9,99999
P,2018GQ07,16,36,1,16,2,5740,47,0,40,1,9,100
P,2018GQ08,17,36,1,16,2,5740,47,0,,1,9,99999
P,2018GQ09,0,36,1,16,2,5740,47,0,40,1,9,99999
P,2018GQ10,18,5,,,5,,47,0,,1,9,
"""
"""Five rows pass the filter; then one fails each of its four conditions, and one has hardly any value."""


def write_zip(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@contextmanager
def serving(respond):
    """Run a server on this machine; ``respond(handler)`` answers a request. Yields (address, requested paths)."""
    requested = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requested.append(self.path)
            respond(self)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # closing the server waits for them: no socket is left behind
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requested
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(content, *, announced=None, status=200):
    """Return a response of ``serving`` that sends ``content``, if need be with a wrong length."""

    def respond(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content) if announced is None else announced))
        handler.end_headers()
        handler.wfile.write(content)

    return respond
