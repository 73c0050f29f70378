"""S3 Table 4: the SGD algorithms to 1% of the optimum, C = 10."""

from reproduce.common.experiment import main
from reproduce.common.s3_jobs import Published
from reproduce.common.s3_sgd import experiment

PUBLISHED: Published = {
    "adult": {
        "Pegasos": None,
        "SGD-r": (1146, 5.1, None),
        "SGD-s": (1172, 5.4, 0.098),
        "SGD-m": (455, 2.2, 0.35),
    },
    "web": {
        "Pegasos": (338, 4.3, None),
        "SGD-r": (330, 2.3, None),
        "SGD-s": (220, 1.5, 0.049),
        "SGD-m": (99, 0.70, 0.105),
    },
    "covtype": {
        "Pegasos": None,
        "SGD-r": (472, 80.3, None),
        "SGD-s": (462, 56.8, 0.343),
        "SGD-m": (269, 34.4, 0.77),
    },
}
EXPERIMENT = experiment(4, 10.0, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
