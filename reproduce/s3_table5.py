"""S3 Table 5: linear machines to 1% of the optimum, C = 10."""

from reproduce.common.experiment import main
from reproduce.common.s3_linear import Seconds, experiment
from reproduce.s3_table4 import PUBLISHED as WALKS

PUBLISHED: Seconds = {
    "adult": {"SVM-perf": 37, "OCAS": 0.3, "DCD": 1.1, "MPU": 0.59},
    "web": {"SVM-perf": 1.2, "OCAS": 0.5, "DCD": 0.17, "MPU": 0.06},
    "covtype": {"SVM-perf": 51.8, "OCAS": 15.8, "DCD": 90.8, "MPU": 36.3},
}
EXPERIMENT = experiment(5, 10.0, WALKS, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
