"""CRNN, a recognizer of lines of text (Shi, Bai and Yao, 2015): convolutions that
bring an image down to one row of features, two LSTMs there and back along its
columns, and the classes of each column."""

from torch import nn


def block(inputs, outputs, pool, padding=1, size=3):
    layers = [nn.Conv2d(inputs, outputs, size, padding=padding, bias=False),
              nn.BatchNorm2d(outputs), nn.ReLU()]
    if pool is not None:
        layers.append(nn.MaxPool2d(pool))
    return layers


class Crnn(nn.Module):
    """Images of 32 rows, [batch, 1, 32, width]; logits [width / 4 - 1, batch, classes]."""

    def __init__(self, widths=(64, 128, 256, 512), hidden=256, classes=37):
        super().__init__()
        a, b, c, d = widths
        self.features = nn.Sequential(
            *block(1, a, 2), *block(a, b, 2), *block(b, c, None), *block(c, c, (2, 1)),
            *block(c, d, None), *block(d, d, (2, 1)), *block(d, d, None, padding=0, size=2))
        self.sequence = nn.LSTM(d, hidden, num_layers=2, bidirectional=True)
        self.classes = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        columns = self.features(x).squeeze(2).permute(2, 0, 1)
        return self.classes(self.sequence(columns)[0])
