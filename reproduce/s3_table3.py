"""S3 Table 3: linear machines to 1% of the optimum, C = 1."""

from reproduce.common.experiment import main
from reproduce.common.s3_linear import Published, experiment

PUBLISHED: Published = {
    "adult": {"SVM-perf": 1.3, "OCAS": 0.06, "DCD": 0.14, "MPU": 0.09, "SGD-m": 0.23},
    "web": {"SVM-perf": 0.27, "OCAS": 0.27, "DCD": 0.06, "MPU": 0.03, "SGD-m": 0.11},
    "covtype": {"SVM-perf": 45.6, "OCAS": 3.3, "DCD": 9.1, "MPU": 5.8, "SGD-m": 2.4},
}
EXPERIMENT = experiment(3, 1.0, {"adult": 50, "web": 14, "covtype": 18}, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
