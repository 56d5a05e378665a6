"""The types that a model file may hold, each by its name in the file and where it is found."""

from likewise import PUBLIC_NAMES

# Rooms whose public classes are all estimators: one that is exported by likewise can be saved.
ROOMS_OF_ESTIMATORS = ("cluster", "evaluation", "guided", "kernel_learning", "metric_learning")
# The name in the file, and where the class is found. A class that moves keeps its name.
ESTIMATORS = {
    **{
        name: f"likewise.{room}.{name}"
        for room in ROOMS_OF_ESTIMATORS
        for name in PUBLIC_NAMES[room]
        if name[0].isupper()
    },
    "BlockKMeans": "likewise.scale.BlockKMeans",
    "DeepConstrainedClustering": "likewise.deep.DeepConstrainedClustering",
    "SelfSupervisedCodes": "likewise.deep.SelfSupervisedCodes",
    "ImageFeatures": "likewise.features.ImageFeatures",
    "TableFeatures": "likewise.features.TableFeatures",
    "TextFeatures": "likewise.features.TextFeatures",
    "sklearn.KMeans": "sklearn.cluster.KMeans",
    "sklearn.OneHotEncoder": "sklearn.preprocessing.OneHotEncoder",
    "sklearn.Pipeline": "sklearn.pipeline.Pipeline",
    "sklearn.SimpleImputer": "sklearn.impute.SimpleImputer",
    "sklearn.StandardScaler": "sklearn.preprocessing.StandardScaler",
    "sklearn.TruncatedSVD": "sklearn.decomposition.TruncatedSVD",
}
RECORDS = {
    "ChainedMap": "likewise.maps.ChainedMap",
    "ConvolutionMap": "likewise.deep.convolution_map.ConvolutionMap",
    "DiffusionMap": "likewise.maps.DiffusionMap",
    "FittedColumn": "likewise.features.column_encoders.FittedColumn",
    "GuidedReport": "likewise.guided.guided_report.GuidedReport",
    "LandmarkMap": "likewise.maps.LandmarkMap",
    "LinearMap": "likewise.maps.LinearMap",
    "NeighborMap": "likewise.maps.NeighborMap",
    "NetworkMap": "likewise.deep.mapping.NetworkMap",
    "NystromMap": "likewise.maps.NystromMap",
    "PivotedCholesky": "likewise.kernels.cholesky.PivotedCholesky",
    "SelfTuningGaussian": "likewise.kernels.gaussian.SelfTuningGaussian",
    "TableColumn": "likewise.features.TableColumn",
    "TrainingPlan": "likewise.deep.training_plan.TrainingPlan",
    "TransformerMap": "likewise.maps.TransformerMap",
    "UnitLengthMap": "likewise.maps.UnitLengthMap",
    "WeightedKernels": "likewise.kernel_learning.alignment.WeightedKernels",
}
FUNCTIONS = {
    "cosine": "likewise.kernels.pointwise.cosine",
    "diffusion": "likewise.kernels.diffusion.diffusion_kernel",
    "linear": "likewise.kernels.pointwise.linear",
    "polynomial": "likewise.kernels.pointwise.polynomial",
    "precomputed": "likewise.kernels.named._as_given",
    "rbf": "likewise.kernels.pointwise.rbf",
}

# Parameters of the classes above that name a file or a folder: None in every model file.
PATHS = ("cache_folder", "checkpoint", "memory")
