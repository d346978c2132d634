"""Turn a LightGBM model trained with a custom objective into an ordinary LightGBM model.

LightGBM stores neither the link of a custom objective nor the initial score the training started from: such a
booster predicts bare margins, measured from a starting point that only the training data knew. Both can be
written into the model itself, which then needs nothing but LightGBM, or another reader of its format, to give
probabilities. The public way in is the model text, so that is what gets rewritten here.
"""

from __future__ import annotations

from typing import NoReturn

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

# The model format this module was written against: another one may mean something else by the same lines.
_FORMAT = "version=v4"

# Up to this size LightGBM does not add the average it starts from to its first trees (its kEpsilon). The same
# bound holds here because crossing it also sets `shrinkage=1`, a factor that `Booster.refit` uses.
_NEGLIGIBLE = 1e-15

# What a tree answers: at a leaf, at an inner node, and as the intercept of a leaf's linear model (for rows
# without missing values; the others get `leaf_value`, so linear trees need both).
_OUTPUTS = frozenset({"leaf_value", "internal_value", "leaf_const"})


def bake(
    booster: lgb.Booster,
    *,
    objective: str,
    init_score: npt.ArrayLike = 0.0,
    num_iteration: int | None = None,
) -> lgb.Booster:
    r"""Return an ordinary booster with the link and the initial score inside.

    With :math:`t_{mk}` the tree of iteration m and class k, :math:`b_k` the initial score, the raw prediction

    .. math:: F_k(x) = b_k + \sum_{m \ge 0} t_{mk}(x) = [b_k + t_{0k}(x)] + \sum_{m \ge 1} t_{mk}(x),

    stays the same, but for rounding, if :math:`b_k` is added to every output of the first iteration's trees.
    LightGBM does so with the average it starts a built-in objective from, and those trees are written here as
    it would write them, with ``shrinkage=1``.

    Parameters
    ----------
    booster : lightgbm.Booster
        A model trained with a custom objective. It is not changed.
    objective : str
        The objective as LightGBM writes it into a model: a name, then its settings as ``key:number``, such as
        ``"binary sigmoid:1"``, ``"regression"``, ``"poisson"`` or ``"multiclass num_class:3"``.
    init_score : float or array of shape (trees per iteration,), default=0.0
        The constant that was put on the datasets as ``init_score``. Zero for a model continued from a baked
        one with ``init_model``, as that one contains it already.
    num_iteration : int, optional
        How many iterations to keep. As elsewhere in LightGBM, None stands for ``booster.best_iteration`` if
        there is one and for all otherwise, and a value <= 0 keeps all.

    Returns
    -------
    lightgbm.Booster
        Has what ``lightgbm.train`` leaves on a booster: no data, the ``best_iteration`` (``num_iteration`` if
        that is positive), the ``best_score``, the names of the evaluation sets, and the training ``params``,
        with the name of the objective.

    Raises
    ------
    ValueError
        If an argument does not fit the model, or the model already has an objective.
    RuntimeError
        If the model text, or the model read back from it, is not as expected: an unknown LightGBM.

    Notes
    -----
    After early stopping ``lightgbm.train`` drops the trees beyond the best iteration, so that
    ``current_iteration()`` equals ``best_iteration``. The default of ``num_iteration`` does that for boosters
    trained with ``keep_training_booster=True``, which saves LightGBM's own conversion to text and back.

    Departure from LightGBM: where ``boosting="dart"`` drops the first tree, LightGBM also shrinks the average
    in it. Here the initial score is added after training and stays whole, as it was while training.
    """
    per_iteration = booster.num_model_per_iteration()
    name, settings = _parse_objective(objective, per_iteration)
    bias = _bias_of_each_tree(init_score, per_iteration)

    available = booster.current_iteration()
    if available == 0:
        raise ValueError("booster has no trees, so there is nowhere to put the initial score")
    wanted = booster.best_iteration if num_iteration is None else num_iteration
    kept = min(wanted, available) if wanted > 0 else available

    text = _rewrite(
        booster.model_to_string(num_iteration=kept),
        objective=" ".join(objective.split()),
        parameters={"objective": name, **settings},
        bias=bias,
    )
    baked = lgb.Booster(model_str=text)
    _verify(baked, booster, name=name, bias=bias, num_trees=kept * per_iteration)

    baked.free_dataset()  # there is none: it leaves the bookkeeping that `lightgbm.train` leaves
    baked.set_train_data_name(getattr(booster, "_train_data_name", "training"))
    baked.name_valid_sets = list(getattr(booster, "name_valid_sets", []))
    baked.best_iteration = kept if wanted > 0 else booster.best_iteration
    baked.best_score = booster.best_score
    baked.params = {**booster.params, "objective": name, **settings}
    return baked


def _parse_objective(objective: str, per_iteration: int) -> tuple[str, dict[str, int | float]]:
    """Split ``"name key:number ..."``, and refuse a number of classes other than the model's."""
    name, *pairs = objective.split() or [""]
    settings: dict[str, int | float] = {}
    for pair in pairs:
        key, _, number = pair.partition(":")
        try:
            settings[key] = int(number) if number.isdecimal() else float(number)
        except ValueError:
            raise ValueError(f"objective must be 'name key:number ...', got {objective!r}") from None
    # LightGBM does not compare the two: a link over more classes than there are trees corrupts its memory.
    expected = settings.get("num_class", 1)
    if expected != per_iteration:
        raise ValueError(f"objective {objective!r} needs {expected} tree(s) per iteration, booster has {per_iteration}")
    return name, settings


def _bias_of_each_tree(init_score: npt.ArrayLike, per_iteration: int) -> list[float]:
    """Return one initial score for each tree of an iteration."""
    bias = np.asarray(init_score, dtype=np.float64)
    if bias.ndim > 0 and bias.shape != (per_iteration,):
        raise ValueError(f"init_score must be a number or have shape ({per_iteration},), got {bias.shape}")
    if not np.isfinite(bias).all():
        raise ValueError(f"init_score must be finite, got {init_score!r}")
    # As Python floats: their repr is the shortest text that reads back as the same number.
    return [float(value) for value in np.broadcast_to(bias, per_iteration)]


def _rewrite(text: str, *, objective: str, parameters: dict[str, int | float | str], bias: list[float]) -> str:
    """Edit the header, the trees of the first iteration and the parameters; copy the (long) rest unread."""
    first = text.find("\nTree=0\n") + 1
    end = text.find("\nend of trees\n", first) + 1
    second = text.find(f"\nTree={len(bias)}\n", first, end) + 1 or end
    settings = text.find("\nparameters:\n", end) + 1
    tail = text.find("\nend of parameters\n", settings) + 1
    if not 0 < first < second <= end < settings < tail:
        _refuse("its sections are not where they should be")
    return "".join(
        [
            _edit_header(text[:first], objective),
            _shift_outputs(text[first:second], bias),
            text[second:settings],
            _edit_parameters(text[settings:tail], parameters),
            text[tail:],
        ]
    )


def _edit_header(header: str, objective: str) -> str:
    """Add the objective, and drop the line that gives the length of each tree's text."""
    lines = header.split("\n")
    keys = [line.partition("=")[0] for line in lines]
    if "objective" in keys:
        raise ValueError(f"booster already has an objective ({lines[keys.index('objective')]}): bake it only once")
    if _FORMAT not in lines or keys.count("max_feature_idx") != 1 or keys.count("tree_sizes") != 1:
        _refuse(f"its header is not the one of {_FORMAT}")
    # Without the lengths LightGBM reads the trees one after the other. That takes little longer, and makes a
    # mistake in them an exception: in its parallel reader it ends the process.
    del lines[keys.index("tree_sizes")]
    lines.insert(keys.index("max_feature_idx") + 1, f"objective={objective}")  # where LightGBM puts it
    return "\n".join(lines)


def _shift_outputs(trees: str, bias: list[float]) -> str:
    """Add ``bias[k]`` to all outputs of tree k."""
    lines = trees.split("\n")
    if sum(line.startswith("Tree=") for line in lines) != len(bias):
        _refuse("its trees are not numbered")
    found: list[set[str]] = []
    for i, line in enumerate(lines):
        key, _, value = line.partition("=")
        if key == "Tree":
            found.append(set())
        found[-1].add(line if key == "is_linear" else key)
        shift = bias[len(found) - 1]
        if abs(shift) <= _NEGLIGIBLE:
            continue
        if key in _OUTPUTS:
            lines[i] = f"{key}=" + " ".join(repr(float(number) + shift) for number in value.split())
        elif key == "shrinkage":
            lines[i] = "shrinkage=1"
    for keys in found:
        linear = {"is_linear=1", "leaf_const"} if "leaf_const" in keys else {"is_linear=0"}
        missing = ({"leaf_value", "internal_value", "shrinkage"} | linear) - keys
        if missing:
            _refuse(f"a tree lacks {sorted(missing)}")
    return "\n".join(lines)


def _edit_parameters(block: str, parameters: dict[str, int | float | str]) -> str:
    """Set the lines ``[key: value]`` of the given parameters."""
    lines = block.split("\n")
    for key, value in parameters.items():
        places = [i for i, line in enumerate(lines) if line.startswith(f"[{key}: ")]
        if len(places) != 1:
            _refuse(f"the parameter {key!r} is there {len(places)} times")
        lines[places[0]] = f"[{key}: {value}]"
    return "\n".join(lines)


def _verify(baked: lgb.Booster, booster: lgb.Booster, *, name: str, bias: list[float], num_trees: int) -> None:
    """Ask the model that was read back for its trees, its initial score and its objective."""
    if (baked.num_trees(), baked.num_model_per_iteration()) != (num_trees, len(bias)):
        _refuse(f"{baked.num_trees()} trees were read back instead of {num_trees}")
    for tree, shift in enumerate(bias):
        before, after = booster.get_leaf_output(tree, 0), baked.get_leaf_output(tree, 0)
        if not np.isclose(after, before + shift, rtol=1e-12, atol=1e-12, equal_nan=True):
            _refuse(f"the initial score {shift} moved a leaf of tree {tree} from {before} to {after}")
    # LightGBM writes this line only when it has made itself an objective of that name.
    written = baked.model_to_string(num_iteration=1).partition("\nobjective=")[2].partition("\n")[0]
    if written.split()[:1] != [name]:
        _refuse(f"the objective {name!r} was read back as {written!r}")


def _refuse(finding: str) -> NoReturn:
    raise RuntimeError(
        f"the model text of LightGBM {lgb.__version__} does not have the expected form: {finding}. "
        "The initial score and the objective cannot be written into the model."
    )
