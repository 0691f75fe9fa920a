#!/usr/bin/env python3
"""Writes the step profiles of this folder: four networks whose scaling has been published.

    python3 docs/simulate/make_profiles.py

Sizes of gradients follow from the architectures. The time of a step is 1 / images per second of one device as published. A
third of it is forward and two thirds backward, which each layer shares in proportion to its multiply-adds; a layer's
gradients are ready at the end of its share. The optimizer is part of the published rate and not told apart.
"""
import json
import pathlib

FLOAT = 4  # bytes


class Network:
    """Layers in the order of forward: name, multiply-adds, elements of each parameter."""

    def __init__(self):
        self.layers = []

    def conv(self, name, inputs, outputs, kernel, size, then="bn"):
        height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        weights = inputs * outputs * height * width
        self.layers.append((name, weights * size * size, {"weight": weights, **({"bias": outputs} if then == "bias" else {})}))
        if then == "bn":
            self.layers.append((name + ".bn", 0, {"weight": outputs, "bias": outputs}))

    def linear(self, name, inputs, outputs):
        self.layers.append((name, inputs * outputs, {"weight": inputs * outputs, "bias": outputs}))

    def parameters(self):
        return sum(sum(tensors.values()) for _, _, tensors in self.layers)

    def gradients(self, backward_seconds):
        total = sum(work for _, work, _ in self.layers)
        done, listed = 0, []
        for name, work, tensors in reversed(self.layers):
            done += work
            ready = round(backward_seconds * done / total, 9)
            listed += [{"name": f"{name}.{tensor}", "bytes": FLOAT * elements, "ready_seconds": ready}
                       for tensor, elements in reversed(tensors.items())]
        return listed


def resnet(blocks):
    net = Network()
    net.conv("conv1", 3, 64, 7, 112)
    inputs = 64
    for stage, count in enumerate(blocks):
        width, size = 64 << stage, 56 >> stage
        for block in range(count):
            name = f"layer{stage + 1}.{block}"
            net.conv(name + ".conv1", inputs, width, 1, size)
            net.conv(name + ".conv2", width, width, 3, size)
            net.conv(name + ".conv3", width, 4 * width, 1, size)
            if block == 0:
                net.conv(name + ".shortcut", inputs, 4 * width, 1, size)
            inputs = 4 * width
    net.linear("fc", inputs, 1000)
    return net


def vgg16():
    net = Network()
    inputs, size = 3, 224
    for stage, (width, count) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]):
        for layer in range(count):
            net.conv(f"conv{stage + 1}_{layer + 1}", inputs, width, 3, size, then="bias")
            inputs = width
        size //= 2
    net.linear("fc6", 512 * 7 * 7, 4096)
    net.linear("fc7", 4096, 4096)
    net.linear("fc8", 4096, 1000)
    return net


def inception_a(net, name, inputs, pooled):
    net.conv(name + ".1x1", inputs, 64, 1, 35)
    net.conv(name + ".5x5_1", inputs, 48, 1, 35)
    net.conv(name + ".5x5_2", 48, 64, 5, 35)
    net.conv(name + ".3x3_1", inputs, 64, 1, 35)
    net.conv(name + ".3x3_2", 64, 96, 3, 35)
    net.conv(name + ".3x3_3", 96, 96, 3, 35)
    net.conv(name + ".pool", inputs, pooled, 1, 35)


def inception_c(net, name, width):
    net.conv(name + ".1x1", 768, 192, 1, 17)
    net.conv(name + ".7x7_1", 768, width, 1, 17)
    net.conv(name + ".7x7_2", width, width, (1, 7), 17)
    net.conv(name + ".7x7_3", width, 192, (7, 1), 17)
    net.conv(name + ".double_1", 768, width, 1, 17)
    net.conv(name + ".double_2", width, width, (7, 1), 17)
    net.conv(name + ".double_3", width, width, (1, 7), 17)
    net.conv(name + ".double_4", width, width, (7, 1), 17)
    net.conv(name + ".double_5", width, 192, (1, 7), 17)
    net.conv(name + ".pool", 768, 192, 1, 17)


def inception_e(net, name, inputs):
    net.conv(name + ".1x1", inputs, 320, 1, 8)
    net.conv(name + ".3x3_1", inputs, 384, 1, 8)
    net.conv(name + ".3x3_2a", 384, 384, (1, 3), 8)
    net.conv(name + ".3x3_2b", 384, 384, (3, 1), 8)
    net.conv(name + ".double_1", inputs, 448, 1, 8)
    net.conv(name + ".double_2", 448, 384, 3, 8)
    net.conv(name + ".double_3a", 384, 384, (1, 3), 8)
    net.conv(name + ".double_3b", 384, 384, (3, 1), 8)
    net.conv(name + ".pool", inputs, 192, 1, 8)


def inception_v3():
    net = Network()
    net.conv("1a", 3, 32, 3, 149)
    net.conv("2a", 32, 32, 3, 147)
    net.conv("2b", 32, 64, 3, 147)
    net.conv("3b", 64, 80, 1, 73)
    net.conv("4a", 80, 192, 3, 71)
    for name, inputs, pooled in [("5b", 192, 32), ("5c", 256, 64), ("5d", 288, 64)]:
        inception_a(net, name, inputs, pooled)
    net.conv("6a.3x3", 288, 384, 3, 17)
    net.conv("6a.double_1", 288, 64, 1, 35)
    net.conv("6a.double_2", 64, 96, 3, 35)
    net.conv("6a.double_3", 96, 96, 3, 17)
    for name, width in [("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)]:
        inception_c(net, name, width)
    net.conv("7a.3x3_1", 768, 192, 1, 17)
    net.conv("7a.3x3_2", 192, 320, 3, 8)
    net.conv("7a.7x7_1", 768, 192, 1, 17)
    net.conv("7a.7x7_2", 192, 192, (1, 7), 17)
    net.conv("7a.7x7_3", 192, 192, (7, 1), 17)
    net.conv("7a.7x7_4", 192, 192, 3, 8)
    inception_e(net, "7b", 1280)
    inception_e(net, "7c", 2048)
    net.linear("fc", 2048, 1000)
    return net


TENSORFLOW = ("TensorFlow's benchmark page (tensorflow.org, Performance, Benchmarks; one Tesla P100 of a DGX-1, batch 64, "
              "May 2017)")

# name, network, its parameters as a check, samples per rank, images per second of one device, source of the rate
PROFILES = [
    ("resnet101", resnet([3, 4, 23, 3]), 44549160, 64, 1 / (1 / 219 + (1 / 91.8 - 1 / 219) * (7.6 - 3.8) / (11.3 - 3.8)),
     TENSORFLOW + ": not listed, so interpolated between ResNet-50 (219) and ResNet-152 (91.8 images/s) by the operations that "
     "He et al. 2015 give, 3.8, 7.6 and 11.3 thousand million"),
    ("inception_v3", inception_v3(), 23834568, 64, 142, TENSORFLOW + ": 142 images/s"),
    ("vgg16", vgg16(), 138357544, 64, 154, TENSORFLOW + ": 154 images/s"),
    ("resnet50", resnet([3, 4, 6, 3]), 25557032, 32, 90 * 1281167 / (29 * 3600) / 8,
     "Goyal et al. 2017: 90 epochs of ImageNet's 1,281,167 images take 29 h on 8 GPUs (Tesla P100), so 138 images/s each"),
]


def main():
    folder = pathlib.Path(__file__).resolve().parent
    for name, net, parameters, samples, rate, source in PROFILES:
        assert net.parameters() == parameters, (name, net.parameters())
        step = samples / rate
        profile = {"format": "ddpkit step profile", "version": 1, "model": name, "device": "Tesla P100", "source": source,
                   "samples": samples, "forward_seconds": round(step / 3, 9), "backward_seconds": round(step * 2 / 3, 9),
                   "optimizer_seconds": 0, "gradients": net.gradients(step * 2 / 3)}
        gradients = ",\n    ".join(json.dumps(gradient) for gradient in profile.pop("gradients"))
        head = ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in profile.items())
        (folder / f"{name}.json").write_text(f'{{\n{head},\n  "gradients": [\n    {gradients}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
