"""A saved model in Spark itself: the clusters of predict, whichever worker finds them."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from likewise import Constraints, GuidedClustering, load_model, save_model

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra io)")
pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed, which pyspark needs", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own, about pandas and its sockets

N_ROWS = 1_000


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    built = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    built = built.config("spark.driver.bindAddress", "127.0.0.1")
    built = built.config("spark.driver.host", "127.0.0.1")
    built = built.config("spark.sql.execution.arrow.maxRecordsPerBatch", "150")
    session = built.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N_ROWS)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 4)) + 5 * np.eye(3, 4)[y], columns=list("abcd"))
    return frame.assign(id=np.arange(N_ROWS)), y


@pytest.fixture(scope="module")
def model(frame):
    rows, y = frame
    answers = Constraints.from_labels(y, n_pairs=60, random_state=0)
    return GuidedClustering(3, n_init=1, random_state=0).fit(
        rows[list("abcd")], constraints=answers
    )


@pytest.mark.parametrize("how", ["mapInPandas", "mapInArrow"])
def test_spark_finds_the_clusters_of_predict(spark, frame, model, tmp_path, how):
    path = str(tmp_path / "m.likewise")
    save_model(model, path)

    def clusters(batches):
        return load_model(path).predict_batches(batches, keep=["id"], memberships=True)

    schema = "id long, cluster int, membership_0 double, membership_1 double, membership_2 double"
    rows = spark.createDataFrame(frame[0]).repartition(3).select("d", "id", "b", "a", "c")
    found = getattr(rows, how)(clusters, schema).toPandas().sort_values("id")
    assert_array_equal(found["id"], np.arange(N_ROWS))
    assert_array_equal(found["cluster"], model.predict(frame[0][list("abcd")]))
    shares = model.predict_proba(frame[0][list("abcd")])
    np.testing.assert_allclose(found.iloc[:, 2:], shares, atol=1e-12)


def test_vectors_in_one_column_and_partitions_without_rows(spark, frame, tmp_path):
    X = frame[0][list("abcd")].to_numpy()
    model = GuidedClustering(3, n_init=1, random_state=0).fit(X)
    path = str(tmp_path / "m.likewise")
    save_model(model, path)

    def clusters(batches):
        return load_model(path).predict_batches(batches, keep=["id"], features=["x"])

    rows = pd.DataFrame({"id": np.arange(5), "x": X[:5].tolist()})
    rows = spark.createDataFrame(rows, "id long, x array<float>").repartition(6)
    for how in ("mapInPandas", "mapInArrow"):
        found = getattr(rows, how)(clusters, "id long, cluster int").toPandas().sort_values("id")
        assert_array_equal(found["cluster"], model.predict(X[:5]))


def test_a_cell_that_cannot_be_used_ends_the_job_with_our_error(spark, frame, model, tmp_path):
    path = str(tmp_path / "m.likewise")
    save_model(model, path)

    def clusters(batches):
        return load_model(path).predict_batches(batches, keep=["id"])

    broken = frame[0].head(20).astype({"b": object})
    broken.loc[7, "b"] = None
    schema = "a double, b double, c double, d double, id long"
    rows = spark.createDataFrame(broken.to_dict("records"), schema).coalesce(1)
    for how in ("mapInPandas", "mapInArrow"):
        with pytest.raises(Exception, match=r"row 7.*b|b.*row 7"):
            getattr(rows, how)(clusters, "id long, cluster int").collect()
