"""S3 Table 3: linear machines to 1% of the optimum, C = 1."""

from reproduce.common.experiment import main
from reproduce.common.s3_linear import Seconds, experiment
from reproduce.s3_table2 import PUBLISHED as WALKS

PUBLISHED: Seconds = {
    "adult": {"SVM-perf": 1.3, "OCAS": 0.06, "DCD": 0.14, "MPU": 0.09},
    "web": {"SVM-perf": 0.27, "OCAS": 0.27, "DCD": 0.06, "MPU": 0.03},
    "covtype": {"SVM-perf": 45.6, "OCAS": 3.3, "DCD": 9.1, "MPU": 5.8},
}
EXPERIMENT = experiment(3, 1.0, WALKS, PUBLISHED)

if __name__ == "__main__":
    main(EXPERIMENT)
