"""Work for the processes that the tests start."""

import os
import signal
import time


def prepare():
    made_in = os.getpid()

    def work(item):
        if item == "raise":
            raise KeyError("not here")
        if item == "exit":
            os._exit(3)
        if item == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "hang":
            time.sleep(60)
        return item, os.getpid() == made_in, os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]

    return work


def fail_to_prepare():
    raise FileNotFoundError("no data there")


def die_while_preparing():
    os._exit(5)
