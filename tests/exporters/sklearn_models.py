"""scikit-learn, LightGBM and XGBoost through skl2onnx and onnxmltools: mostly operators of ai.onnx.ml."""

from __future__ import annotations

import lightgbm
import numpy as np
import onnx
import xgboost
from corpus import Model, versions
from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
from skl2onnx import convert_sklearn, update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes as class_shapes
from skl2onnx.common.shape_calculator import calculate_linear_regressor_output_shapes as value_shapes
from sklearn import cluster, compose, decomposition, discriminant_analysis, ensemble, feature_selection, gaussian_process
from sklearn import impute, linear_model, mixture, multiclass, naive_bayes, neighbors, neural_network, pipeline
from sklearn import preprocessing, svm, tree

EXPORTER = versions("skl2onnx", "scikit-learn", "onnxmltools", "lightgbm", "xgboost")
FEATURES = 6
BOOSTED = [
    (lightgbm.LGBMClassifier, "LightGbmLGBMClassifier", class_shapes, convert_lightgbm),
    (lightgbm.LGBMRegressor, "LightGbmLGBMRegressor", value_shapes, convert_lightgbm),
    (xgboost.XGBClassifier, "XGBoostXGBClassifier", class_shapes, convert_xgboost),
    (xgboost.XGBRegressor, "XGBoostXGBRegressor", value_shapes, convert_xgboost),
]


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and a value, with something to learn in them."""
    random = np.random.default_rng(7)
    x = random.normal(size=(300, FEATURES)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.int64) + (x[:, 3] > 0.8)
    return x, y, (x @ np.arange(FEATURES) + x[:, 0] ** 2).astype(np.float32)


def numeric(name: str, estimator, opset: int, *, target: str = "classes", options: dict | None = None, double: bool = False):
    """Trains on the numeric data and converts; `options` are those of the converter."""

    def build() -> onnx.ModelProto:
        x, y, value = data()
        estimator.fit(np.abs(x) if "nonnegative" in target else x, value if target == "value" else y)
        kind = DoubleTensorType if double else FloatTensorType
        versions = {"": opset, "ai.onnx.ml": 3 if opset >= 15 else 1}
        named = {id(estimator): options} if options else None
        return convert_sklearn(estimator, initial_types=[("X", kind([None, FEATURES]))], target_opset=versions, options=named)

    ranges = {"X": (0.0, 3.0) if "nonnegative" in target else (-2.0, 2.0)}
    return Model(f"sklearn_{name}_opset{opset}", build, ranges=ranges, sizes={"X_0": 5})


def mixed(opset: int):
    """Columns of numbers with gaps, whole numbers and strings, as tables have them."""

    def build() -> onnx.ModelProto:
        import pandas

        random = np.random.default_rng(8)
        table = pandas.DataFrame({
            "age": random.normal(40, 9, 200).astype(np.float32),
            "rooms": random.integers(0, 5, 200),
            "city": random.choice(["Oslo", "Rome", "Lima"], 200),
        })  # fmt: skip
        gaps = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler())
        columns = compose.ColumnTransformer([
            ("numbers", gaps, ["age"]), ("whole", preprocessing.MinMaxScaler(), ["rooms"]),
            ("names", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["city"]),
        ])  # fmt: skip
        model = pipeline.make_pipeline(columns, linear_model.LogisticRegression())
        model.fit(table, table["rooms"] > 2)
        types = [("age", FloatTensorType([None, 1])), ("rooms", Int64TensorType([None, 1])),
                 ("city", StringTensorType([None, 1]))]  # fmt: skip
        return convert_sklearn(model, initial_types=types, target_opset={"": opset, "ai.onnx.ml": 1})

    choices = {"city": ["Oslo", "Rome", "Lima", "nowhere"], "age": [31.5, 44.0, float("nan")]}
    sizes = {"age_0": 4, "rooms_0": 4, "city_0": 4}
    return Model(f"sklearn_mixed_columns_opset{opset}", build, choices=choices, ranges={"rooms": (0, 5)}, sizes=sizes)


def text() -> Model:
    def build() -> onnx.ModelProto:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = ["the cat sat", "the dog ran far", "a cat and a dog", "far away the cat ran"]
        model = pipeline.make_pipeline(TfidfVectorizer(lowercase=False), linear_model.LogisticRegression())
        model.fit(words, [0, 1, 0, 1])
        return convert_sklearn(model, initial_types=[("words", StringTensorType([None]))], target_opset={"": 15, "ai.onnx.ml": 1})

    return Model("sklearn_text_opset15", build, choices={"words": ["the cat ran", "a dog", ""]}, sizes={"words_0": 3})


def models() -> list[Model]:
    for kind, alias, shapes, convert in BOOSTED:
        options = {"nocl": [True, False], "zipmap": [True, False, "columns"]} if "Classifier" in alias else {}
        update_registered_converter(kind, alias, shapes, convert, options=options)
    raw = {"zipmap": False}
    few = {"n_estimators": 4, "max_depth": 3}
    regress = {"target": "value"}
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    squares = pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.Ridge())
    reduced = pipeline.make_pipeline(decomposition.PCA(3), svm.SVC(probability=True))
    chosen = pipeline.make_pipeline(feature_selection.SelectKBest(k=3), linear_model.LogisticRegression())
    both = [("a", linear_model.LogisticRegression()), ("b", naive_bayes.GaussianNB())]
    votes = ensemble.VotingClassifier(both, voting="soft", flatten_transform=False)
    hidden = {"hidden_layer_sizes": (16, 8), "max_iter": 200, "random_state": 1}
    return [
        numeric("logistic", linear_model.LogisticRegression(), 9),
        numeric("logistic_raw", linear_model.LogisticRegression(), 21, options=raw),
        numeric("linear", linear_model.LinearRegression(), 9, **regress),
        numeric("linear_double", linear_model.LinearRegression(), 18, double=True, **regress),
        numeric("scaled_logistic", scaled, 12),
        numeric("squares_ridge", squares, 17, **regress),
        numeric("pca_svc", reduced, 15),
        numeric("select_k_best", chosen, 13),
        numeric("voting", votes, 15),
        numeric("one_vs_rest", multiclass.OneVsRestClassifier(svm.LinearSVC()), 14),
        numeric("svr", svm.SVR(), 11, **regress),
        numeric("tree", tree.DecisionTreeClassifier(max_depth=4), 9),
        numeric("forest", ensemble.RandomForestClassifier(**few), 15),
        numeric("forest_regressor", ensemble.RandomForestRegressor(**few), 18, **regress),
        numeric("boosting", ensemble.GradientBoostingClassifier(**few), 12),
        numeric("extra_trees", ensemble.ExtraTreesRegressor(**few), 15, **regress),
        numeric("isolation_forest", ensemble.IsolationForest(n_estimators=4), 17),
        numeric("ada_boost", ensemble.AdaBoostClassifier(n_estimators=3), 15),
        numeric("nearest", neighbors.KNeighborsClassifier(3), 15),
        numeric("nearest_regressor", neighbors.KNeighborsRegressor(3), 12, **regress),
        numeric("k_means", cluster.KMeans(3, n_init=2), 15),
        numeric("gaussian_mixture", mixture.GaussianMixture(3), 18),
        numeric("gaussian_process", gaussian_process.GaussianProcessRegressor(alpha=1e-2), 15, **regress),
        numeric("naive_bayes", naive_bayes.GaussianNB(), 15),
        numeric("naive_bayes_multinomial", naive_bayes.MultinomialNB(), 11, target="nonnegative classes"),
        numeric("discriminant", discriminant_analysis.LinearDiscriminantAnalysis(), 13),
        numeric("perceptron", neural_network.MLPClassifier(**hidden), 9),
        numeric("perceptron_regressor", neural_network.MLPRegressor(activation="tanh", **hidden), 21, **regress),
        numeric("quantiles", preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), 15),
        numeric("power_transform", preprocessing.PowerTransformer(), 18),
        numeric("normalizer", preprocessing.Normalizer(), 12),
        numeric("robust_scaler", preprocessing.RobustScaler(), 15),
        numeric("lightgbm", lightgbm.LGBMClassifier(verbose=-1, **few), 15),
        numeric("lightgbm_regressor", lightgbm.LGBMRegressor(verbose=-1, **few), 9, **regress),
        numeric("xgboost", xgboost.XGBClassifier(**few), 15),
        numeric("xgboost_regressor", xgboost.XGBRegressor(**few), 13, **regress),
        mixed(15), mixed(21), text(),
    ]  # fmt: skip
