#!/usr/bin/env python3
"""Prints testing/sklearn_errors.inc: the errors of scikit-learn's random forest.

    python3 costmodel/testing/sklearn_errors.py > costmodel/testing/sklearn_errors.inc

Needs scikit-learn (Debian: python3-sklearn); the tests need only what it printed.
The data are those of synthetic_data.cc, number by number.
"""

import math

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestRegressor

SEEDS = 10
TRAIN, TEST = 1000, 1000


class Congruential:
    def __init__(self, seed):
        self.state = seed
        self.uniform()

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 40) / 2**24

    def noise(self):
        total = -6.0
        for _ in range(12):
            total += self.uniform()
        return total


def f32(x):
    return float(np.float32(x))


def friedman1(random):
    row = [f32(random.uniform()) for _ in range(10)]
    target = (10 * math.sin(math.pi * row[0] * row[1]) + 20 * (row[2] - 0.5) ** 2
              + 10 * row[3] + 5 * row[4] + random.noise())
    return row, target


def linear(random):
    row, target = [0.0] * 20, 0.0
    for i in range(10):
        row[i] = f32(random.uniform())
        row[10 + i] = f32(row[i] + 0.1 * random.uniform())
        target += (i + 1) * row[i]
    return row, target + random.noise()


def schedules(random):
    row = [0.0] * 164
    for i in range(8):
        row[i] = math.floor(random.uniform() * 8)
    for i in range(8, 64):
        row[i] = row[i % 8] + row[(i // 8 + i) % 8]
    for i in range(64, 72):
        row[i] = 1.0 if row[i - 64] > 3 else 0.0
    cache = max(0.0, row[0] + row[1] + row[2] - 11.0)
    registers = abs(row[3] + row[4] - 6.0)
    return row, (0.3 * cache * cache + registers + 0.25 * row[5] * row[6]
                 + 0.2 * random.noise())


def make(function, seed, rows):
    random = Congruential(seed)
    drawn = [function(random) for _ in range(rows)]
    return (np.array([row for row, _ in drawn], dtype=np.float32),
            np.array([target for _, target in drawn]))


def main():
    print(f"// Printed by sklearn_errors.py with scikit-learn {sklearn.__version__}: root mean squared")
    print(f"// errors on {TEST} rows after training on {TRAIN}, and the same of predicting the mean;")
    print(f"// means over {SEEDS} seeds. Data, trees, features tried, least leaf, error, of the mean.")
    for function, columns in ((friedman1, 10), (linear, 20), (schedules, 164)):
        x, y = make(function, 1, TRAIN)
        test_x, test_y = make(function, 2, TEST)
        for trees, tried, leaf in ((100, columns, 1), (100, (columns + 2) // 3, 1),
                                   (10, 10, 1), (100, columns, 5)):
            total = 0.0
            for seed in range(SEEDS):
                forest = RandomForestRegressor(
                    n_estimators=trees, max_features=tried, min_samples_leaf=leaf,
                    random_state=seed).fit(x, y)
                total += math.sqrt(np.mean((forest.predict(test_x) - test_y) ** 2))
            mean_error = math.sqrt(np.mean((np.mean(y) - test_y) ** 2))
            print(f'{{"{function.__name__}", {trees}, {tried}, {leaf}, '
                  f"{total / SEEDS:.5f}, {mean_error:.5f}}},")


if __name__ == "__main__":
    main()
