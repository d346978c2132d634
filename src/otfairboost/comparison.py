r"""Comparing the score distributions of several groups: one number, and where each group should move.

Inside a stratum the groups' squared Wasserstein-2 distances are put together as

- ``one_vs_rest``: :math:`D = \sum_g c_g W_2^2(\mu_g, \mu_{\bar g})`, :math:`\bar g` all other groups pooled
  (the distance behind the paper's metric for several groups);
- ``barycenter``: :math:`D = \sum_g c_g W_2^2(\mu_g, \nu) / \frac12 (1 - \sum_g c_g^2)`, :math:`\nu` the barycenter
  with weights :math:`c_g`, which is the :math:`c_g c_h`-weighted mean of :math:`W_2^2(\mu_g, \mu_h)` over pairs.

The :math:`c_g` sum to 1. With two groups both are :math:`W_2^2(\mu_0, \mu_1)`.

The derivative for a row of weight :math:`w_i` and score :math:`u_i` in group g has the form
:math:`\partial D / \partial u_i = w_i\, a_g\, (u_i - t_g(u_i))`: a pull of strength :math:`a_g` towards a target.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otfairboost.transport.exact import transport_cost
from otfairboost.transport.measure import AddImage, Measure

MultiGroup = Literal["one_vs_rest", "barycenter"]
Float = NDArray[np.float64]


class Transport(NamedTuple):
    """How measures are transported.

    Attributes
    ----------
    images : callable
        ``images(source, target)``: the transport images of the source's atoms, and of the target's in the source.
    extend : callable
        ``extend(source, image)``: that map as a function that takes other measures.
    """

    images: Callable[[Measure, Measure], tuple[Float, Float]]
    extend: Callable[[Measure, Float], AddImage]


class Pull(NamedTuple):
    """What moves a group.

    Attributes
    ----------
    strength : float
        :math:`a_g`.
    target : array of shape (n_atoms,)
        :math:`t_g` at the group's atoms.
    """

    strength: float
    target: Float


class GroupMeasures(NamedTuple):
    """The score distributions of one stratum's groups.

    Attributes
    ----------
    groups, rests : sequences of Measure
        Each group's distribution, and that of all other groups pooled.
    weights : array of shape (n_groups,)
        Each group's total weight :math:`W_g`.
    shares : array of shape (n_groups,)
        The :math:`c_g`, summing to 1.
    """

    groups: Sequence[Measure]
    rests: Sequence[Measure]
    weights: Float
    shares: Float


def _one_vs_rest_pulls(stratum: GroupMeasures, transport: Transport) -> list[Pull]:
    # d/du_i of sum_h c_h W2^2(mu_h, mu_rest(h)), row i in group g: its own term (h = g), Eq. (11) with
    # n^0 -> W_g, and every other term, where the row sits in the rest and its weight is w_i / W_rest(h).
    groups, rests, weights, shares = stratum
    own = (2.0 * shares / weights).tolist()
    in_rest = (2.0 * shares / (weights.sum() - weights)).tolist()
    to_rest, to_group = zip(*map(transport.images, groups, rests), strict=True)
    add_from_rest = [transport.extend(rest, image) for rest, image in zip(rests, to_group, strict=True)]
    pulls = []
    for g, group in enumerate(groups):
        others = [h for h in range(len(groups)) if h != g]
        strength = own[g] + sum(in_rest[h] for h in others)
        target = to_rest[g]
        target *= own[g] / strength
        for h in others:
            add_from_rest[h](group, in_rest[h] / strength, target)
        pulls.append(Pull(strength, target))
    return pulls


def _one_vs_rest_distance(stratum: GroupMeasures) -> float:
    costs = [transport_cost(group, rest) for group, rest in zip(stratum.groups, stratum.rests, strict=True)]
    return float(stratum.shares @ np.array(costs))


def _barycenter_pulls(stratum: GroupMeasures, transport: Transport) -> list[Pull]:
    # The barycenter minimises the sum, so it may be held fixed (envelope theorem): the derivative is
    # 2 c_g / W_g (u - T_g(u)) with T_g = sum_h c_h T_{g->h} and T_{g->g} the identity. Leaving the identity out,
    # u - T_g(u) = (1 - c_g) (u - t_g(u)), t_g the mean of the images in the other groups.
    groups, _, weights, shares = stratum
    norm = 2.0 / (1.0 - float(shares @ shares))
    targets = [np.zeros(len(group.atoms)) for group in groups]
    for g, h in _pairs(len(groups)):
        image, back = transport.images(groups[g], groups[h])
        targets[g] += shares[h] / (1.0 - shares[g]) * image
        targets[h] += shares[g] / (1.0 - shares[h]) * back
    strengths = 2.0 * norm * shares * (1.0 - shares) / weights
    return [Pull(float(strength), target) for strength, target in zip(strengths, targets, strict=True)]


def _barycenter_distance(stratum: GroupMeasures) -> float:
    groups, _, _, shares = stratum
    norm = 2.0 / (1.0 - float(shares @ shares))
    return norm * sum(
        float(shares[g] * shares[h]) * transport_cost(groups[g], groups[h]) for g, h in _pairs(len(groups))
    )


def _pairs(n_groups: int) -> list[tuple[int, int]]:
    return [(g, h) for g in range(n_groups) for h in range(g)]


def _two_group_pulls(stratum: GroupMeasures, transport: Transport) -> list[Pull]:
    # Eq. (11): dW2^2 / du_i = 2 w_i / W_g (u_i - T(u_i)).
    images = transport.images(*stratum.groups)
    return [Pull(float(2.0 / weight), image) for weight, image in zip(stratum.weights, images, strict=True)]


_PULLS = {"one_vs_rest": _one_vs_rest_pulls, "barycenter": _barycenter_pulls}
_DISTANCES = {"one_vs_rest": _one_vs_rest_distance, "barycenter": _barycenter_distance}
MULTI_GROUP: tuple[str, ...] = tuple(_PULLS)


def needs_rests(multi_group: MultiGroup, n_groups: int) -> bool:
    """Return whether a comparison reads ``GroupMeasures.rests``."""
    return multi_group == "one_vs_rest" and n_groups > 2


def pulls(multi_group: MultiGroup, stratum: GroupMeasures, transport: Transport) -> list[Pull]:
    """Return the pull on each group."""
    if len(stratum.groups) == 2:
        return _two_group_pulls(stratum, transport)
    return _PULLS[multi_group](stratum, transport)


def distance(multi_group: MultiGroup, stratum: GroupMeasures) -> float:
    """Return D, the groups' squared distance."""
    if len(stratum.groups) == 2:
        return transport_cost(*stratum.groups)
    return _DISTANCES[multi_group](stratum)
