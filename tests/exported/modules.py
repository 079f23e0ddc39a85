"""Small networks put together from torch.nn: recurrent ones, generators, loops."""

from __future__ import annotations

import torch
from torch import nn

from architectures import Architecture, Input, image, tokens


class Tagger(nn.Module):
    """Embeds tokens, runs a recurrent network both ways, and classifies each step."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.embed = nn.Embedding(200, 32)
        self.run = kind(32, 48, num_layers=2, bidirectional=True, batch_first=True)
        self.classify = nn.Linear(96, 10)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        steps, _ = self.run(self.embed(input_ids))
        return self.classify(steps).log_softmax(-1)


class GreedyDecoder(nn.Module):
    """Feeds its own output back, a number of times that only an input decides: Loop and If."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Linear(48, 48)
        self.gate = nn.Linear(48, 48)

    def forward(self, state: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        for _ in range(int(count)):
            if bool(state.mean() > 0):
                state = torch.tanh(self.step(state))
            else:
                state = state + torch.sigmoid(self.gate(state))
        return state


class UNet(nn.Module):
    """Two levels down and up again, with skip connections."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = _block(3, 16), _block(16, 32), _block(32, 16)
        self.down = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        top = self.first(image)
        up = self.up(self.second(self.down(top)))
        return self.out(self.last(torch.cat([top, up], 1)))


def _block(inside: int, outside: int) -> nn.Sequential:
    """Convolution, normalisation, activation, twice."""
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(),
        nn.Conv2d(outside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.LeakyReLU(0.2),
    )  # fmt: skip


def _generator() -> nn.Module:
    """Makes an image from noise, with transposed convolutions."""
    return nn.Sequential(
        nn.ConvTranspose2d(32, 32, 4), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def _super_resolution() -> nn.Module:
    """Enlarges an image by rearranging channels."""
    return nn.Sequential(
        nn.ReflectionPad2d(2), nn.Conv2d(3, 32, 5), nn.PReLU(32), nn.InstanceNorm2d(32),
        nn.Conv2d(32, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.Hardswish(),
        nn.Conv2d(32, 12, 3, padding=1), nn.PixelShuffle(2), nn.Upsample(scale_factor=2),
    )  # fmt: skip


def _transformer() -> nn.Module:
    """The encoder of torch.nn, unfused."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def module_architectures() -> list[Architecture]:
    """Returns the small networks."""
    ids = tokens(10, 200)
    open_ids = tokens(10, 200, batch="batch", sequence="sequence")
    noise = Input("noise", (2, 32, 1, 1), axes={0: "batch"})
    steps = Input("steps", (2, 10, 64), axes={0: "batch"})
    state, count = Input("state", (2, 48)), Input("count", (), "int64", 3, 6)
    dynamo = {"exporter": "dynamo"}
    batch = {0: "batch"}

    def make(name: str, build, inputs: tuple[Input, ...], opset: int, **settings) -> Architecture:
        return Architecture("torch_" + name, "torch", build, inputs, opset, **settings)

    return [
        make("lstm", lambda: Tagger(nn.LSTM), (ids,), 11),
        make("gru", lambda: Tagger(nn.GRU), (open_ids,), 14, output_axes=batch),
        make("rnn", lambda: Tagger(nn.RNN), (ids,), 17),
        make("lstm_dynamo", lambda: Tagger(nn.LSTM), (ids,), 18, **dynamo),
        make("greedy_loop", lambda: torch.jit.script(GreedyDecoder()), (state, count), 13),
        make("unet", UNet, (image(32, "batch"),), 12, keep_norm=True, output_axes=batch),
        make("unet_half", UNet, (image(32, dtype="float16"),), 15, half=True),
        make("generator", _generator, (noise,), 11, output_axes=batch),
        make("super_resolution", _super_resolution, (image(24),), 13),
        make("super_resolution_dynamo", _super_resolution, (image(24),), 21, **dynamo),
        make("transformer", _transformer, (steps,), 16, keep_norm=True, output_axes=batch),
        make("transformer_dynamo", _transformer, (steps,), 18, **dynamo),
    ]
