"""The fairness parameters as the classes' docstrings list them."""

_PARAMETERS = """

    Every parameter of ENGINE's estimator keeps its name and meaning.

    Parameters
    ----------
    fairness : str or callable, default="demographic_parity"
        The criterion: ``"demographic_parity"`` (scores independent of the group), ``"conditional_demographic_parity"``
        (independent given ``control_features`` of ``fit``), ``"equalized_odds"`` (independent given the label, or in
        regression the interval of the target), ``"true_positive_rate_parity"`` (among positives; equal opportunity) or
        ``"false_positive_rate_parity"`` (among negatives; both need a classifier). A function
        ``fairness(target) -> values`` puts rows into strata of its own: one value per row, missing where a row is not
        compared; it sees ``target.values``, ``target.classes`` and ``target.control``. With more than two
        classes the first three compare the probabilities of every class.
    fairness_weight : float, default=5.0
        How much the penalty counts against the mean loss of a row, independent of the number of rows; the paper's
        lambda, whose range there is 0.1 to 20. 0 trains the plain model.
    multi_group : {"one_vs_rest", "barycenter"}, default="one_vs_rest"
        With more than two groups: compare each with all others together, or with the groups' barycenter.
    group_weighting : {"equal", "size"} or dict, default="equal"
        Whether each group counts the same in the penalty, by its weight, or as ``{group: weight}`` says; with
        ``multi_attribute="sum"`` a dict has one of these for each column. Two groups count the same in any case.
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
    focus_quantile : float, optional
        Puts the focus on the top of the ranking: in place of ``decision_threshold`` it is this quantile of all training
        rows' raw predictions in each round, 0.9 for users who act on the top 10%. Works with every loss; ``focus`` is
        then in units of log-odds, of logarithms (losses with a log link) or of the target's standard deviation.
    sensitive_bins : int, sequence of float or dict, optional
        Makes groups of numeric sensitive features: that many quantiles, or intervals that begin at these edges; a dict
        has either by column. Edges are learnt in training and reused on evaluation sets.
    min_group_size : int, optional
        Puts groups of fewer rows together: intervals with a neighbour, others with each other.
    multi_attribute : {"intersection", "sum"}, default="intersection"
        Whether several sensitive columns make one attribute of all combinations, or the penalty is the sum of one for
        each column; there a row that lacks one value counts in the others.
    attribute_weights : sequence or dict, optional
        Weights of the columns in the sum, in order or by name; 1 each by default.
    control_bins : int, sequence of float or dict, optional
        As ``sensitive_bins``, for control features.
    target_bins : int or sequence of float, default=5
        With ``fairness="equalized_odds"`` in regression: how many quantiles of the target, or the edges between
        intervals.
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
    groups_ : tuple, or dict of tuples
        The groups that were compared; by column with ``multi_attribute="sum"``.
    sensitive_edges_ : dict
        With ``sensitive_bins``: the edges by column.
    target_edges_ : tuple
        The edges of the target, where it is binned.
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
