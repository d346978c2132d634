"""``otfairboost evaluate``: figures of any model, in the terminal."""

from otfairboost.cli import auditing, options
from otfairboost.cli.running import print_json, results
from otfairboost.cli.tables import summary_table


def evaluate(
    data: options.DataFile,
    target: auditing.Target = None,
    sensitive: auditing.Sensitive = None,
    model: auditing.Models = None,
    scores: auditing.Scores = None,
    fairness: auditing.Fairness = None,
    task: options.Task = "auto",
    positive: options.Positive = None,
    threshold: options.Threshold = None,
    as_json: options.Json = False,
) -> None:
    """Measure models on a table: a saved one, or a column of scores from any model.

    For example:

    otfairboost evaluate test.csv --model model.txt

    otfairboost evaluate decisions.csv --scores score --target repaid --sensitive sex
    """
    from otfairboost.report import summarise

    report = auditing.audit(
        data, target=target, sensitive=sensitive, scores=scores, models=model, fairness=fairness, task=task,
        positive=positive, threshold=threshold,
    )  # fmt: skip
    summaries = [summarise(report, number) for number in range(len(report.models))]
    if as_json:
        print_json(summaries[0] if len(summaries) == 1 else summaries)
        return
    for summary in summaries:
        results().print(summary_table(summary, summary["model"]))
