"""Maps: what every learner ends as, and what is saved, run over blocks and moved to a GPU."""

from likewise.maps import by_map
from likewise.maps.chained_map import ChainedMap, TransformerMap, as_map
from likewise.maps.diffusion_map import DiffusionMap, diffusion_map
from likewise.maps.distance_export import condensed_distances, neighbor_distances
from likewise.maps.landmark_map import MAX_PASSES, LandmarkMap
from likewise.maps.linear_map import LinearMap
from likewise.maps.map import Map
from likewise.maps.map_devices import find_device, from_device, gpu_at_hand, on_device
from likewise.maps.neighbor_map import NeighborMap
from likewise.maps.nystrom_map import NystromMap, nystrom_map
from likewise.maps.unit_length_map import UnitLengthMap

__all__ = [
    "MAX_PASSES",
    "ChainedMap",
    "DiffusionMap",
    "LandmarkMap",
    "LinearMap",
    "Map",
    "NeighborMap",
    "NystromMap",
    "TransformerMap",
    "UnitLengthMap",
    "as_map",
    "by_map",
    "condensed_distances",
    "diffusion_map",
    "find_device",
    "from_device",
    "gpu_at_hand",
    "neighbor_distances",
    "nystrom_map",
    "on_device",
]
