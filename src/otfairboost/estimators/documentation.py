"""The fairness parameters as the classes' docstrings list them."""

_PARAMETERS = """

    Every parameter of ENGINE's estimator keeps its name and meaning.

    Parameters
    ----------
    fairness : str, default="demographic_parity"
        The criterion: ``"demographic_parity"`` (scores independent of the group), ``"equalized_odds"`` (independent
        given the label), ``"true_positive_rate_parity"`` (among positives; equal opportunity) or
        ``"false_positive_rate_parity"`` (among negatives). Those with a label need a classifier. With more than two
        classes the first two compare the probabilities of every class.
    fairness_weight : float, default=5.0
        How much the penalty counts against the mean loss of a row, independent of the number of rows; the paper's
        lambda, whose range there is 0.1 to 20. 0 trains the plain model.
    multi_group : {"one_vs_rest", "barycenter"}, default="one_vs_rest"
        With more than two groups: compare each with all others together, or with the groups' barycenter.
    group_weighting : {"equal", "size"}, default="equal"
        Whether each group counts the same in the penalty, or by its weight.
    transport : {"histogram", "exact", "kde"}, default="histogram"
        How score distributions are compared: binned, row by row (for small data), or smoothed by a Gaussian kernel.
    ties : {"average", "right", "left"}, default="average"
        What a block of equal scores is moved to: the mean of its targets, or the paper's one-sided derivatives (for
        two groups, with ``transport="exact"``).
    bandwidth : float, default=0.1
        Of the kernel, as a factor of the scores' standard deviation.
    n_bins : int, optional
        Of the histogram; by default it grows with the number of rows.
    focus : float, default=1.0
        1 compares probabilities as they are. Larger values, such as 4 or 8, make those near ``decision_threshold``
        count for more and those far from it for less. With more than two classes they do so for those that compete for
        the largest.
    decision_threshold : float, default=0.5
        The probability from which on a row counts as selected in ``focus`` and in metrics during training; of two
        classes.
    fairness_hessian : float, "auto" or "paper", default="auto"
        The penalty's curvature, as a factor of its Gauss-Newton term: twice the learning rate, at most 1 ("auto"), or
        a number; "paper" is the paper's form. Larger is slower and safer.
    score_space : {"response", "link"}, default="response"
        Where losses have a link, whether the penalty compares responses (probabilities, counts, amounts) or raw
        predictions (log-odds, logarithms).
    max_gap : float, optional
        A target in place of a weight: the fitted model is the one of the smallest weight whose gap on held-out rows is
        at most this. The search starts from ``fairness_weight`` (leave it at its default), tries weights from 0 to 20
        times that, 8 at most, and the model is then fitted on all rows.
    gap_metric : str, optional
        Which gap, by its name in ``otfairboost.metrics.METRICS``. By default that of ``fairness``, in decisions at
        ``decision_threshold``; a regressor has ``"kolmogorov_smirnov"`` and ``"wasserstein_distance"``. With more than
        two classes it is the largest over them, of ``"multiclass_demographic_parity_difference"`` and the like.
    gap_cv : int, splitter, iterable or "eval_set", default=5
        What is held out for it: folds, as in ``otfairboost.selection.FairnessFrontier``; or the first evaluation set
        given to ``fit``, which costs one fit for each weight.
    gap_confidence : float or None, default=0.95
        Holds the upper bound of the gap, at this confidence, under ``max_gap``; None: the gap itself.
    on_unreachable : {"warn", "raise"}, default="warn"
        If no weight that was tried keeps the gap: fit the one of the smallest gap and warn, or raise.
    **kwargs
        ENGINE's parameters and their aliases.

    Attributes
    ----------
    BOOSTER
        An ordinary ENGINE model, with the initial score and the objective inside.
    groups_ : tuple
        The groups that were compared.
    fairness_weight_ : float
        The weight that was trained with.
    gap_, gap_interval_ : float, (float, float)
        With ``max_gap``: the gap on the rows held out in the search, and its lower and upper bound.
    search_history_ : tuple of SearchStep
        With ``max_gap``: each weight tried, its gap and bounds.
    """


def document(estimator: type, *, engine: str, booster: str) -> None:
    """Add the parameters to an estimator's docstring.

    Parameters
    ----------
    estimator : type
    engine : str
        The booster's name.
    booster : str
        The attribute that holds the trained model, and its type.
    """
    estimator.__doc__ = f"{estimator.__doc__}{_PARAMETERS.replace('ENGINE', engine).replace('BOOSTER', booster)}"
