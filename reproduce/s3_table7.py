"""S3 Table 7: linear machines to 1% of the optimum, C = 0.05."""

from reproduce.common.experiment import main
from reproduce.common.s3_linear import Seconds, experiment
from reproduce.s3_table6 import PUBLISHED as WALKS

PUBLISHED: Seconds = {
    "adult": {"SVM-perf": 0.11, "OCAS": 0.05, "DCD": 0.02, "MPU": 0.03},
    "web": {"SVM-perf": 0.08, "OCAS": 0.09, "DCD": 0.03, "MPU": 0.02},
    "covtype": {"SVM-perf": 53.2, "OCAS": 1.5, "DCD": 1.2, "MPU": 1.3},
}
EXPERIMENT = experiment(7, 0.05, WALKS, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
