"""S3 Table 2: the SGD algorithms to 1% of the optimum, C = 1."""

from reproduce.common.experiment import main
from reproduce.common.s3_jobs import Published
from reproduce.common.s3_sgd import experiment

PUBLISHED: Published = {
    "adult": {
        "Pegasos": (181, 2.4, None),
        "SGD-r": (116, 0.52, None),
        "SGD-s": (111, 0.52, 0.105),
        "SGD-m": (50, 0.23, 0.33),
    },
    "web": {
        "Pegasos": (53, 0.67, None),
        "SGD-r": (46, 0.31, None),
        "SGD-s": (26, 0.19, 0.054),
        "SGD-m": (14, 0.11, 0.1),
    },
    "covtype": {
        "Pegasos": None,
        "SGD-r": (62, 10.6, None),
        "SGD-s": (65, 8.2, 0.264),
        "SGD-m": (18, 2.4, 1.12),
    },
}
EXPERIMENT = experiment(2, 1.0, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
