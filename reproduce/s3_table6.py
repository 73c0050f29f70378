"""S3 Table 6: the SGD algorithms to 1% of the optimum, C = 0.05."""

from reproduce.common.experiment import main
from reproduce.common.s3_jobs import Published
from reproduce.common.s3_sgd import experiment

PUBLISHED: Published = {
    "adult": {
        "Pegasos": (7, 0.09, None),
        "SGD-r": (12, 0.05, None),
        "SGD-s": (10, 0.05, 0.07),
        "SGD-m": (6, 0.03, 0.15),
    },
    "web": {
        "Pegasos": (4, 0.06, None),
        "SGD-r": (4, 0.03, None),
        "SGD-s": (2, 0.02, 0.06),
        "SGD-m": (2, 0.02, 0.06),
    },
    "covtype": {
        "Pegasos": (5, 2.4, None),
        "SGD-r": (4, 0.69, None),
        "SGD-s": (4, 0.59, 0.25),
        "SGD-m": (5, 0.75, 0.27),
    },
}
EXPERIMENT = experiment(6, 0.05, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
