"""The digits of ``examples/data``, as a DataFrame. Used on the driver only."""

import argparse
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import spark_collectives

DATA = Path(__file__).resolve().parent.parent / "data" / "digits.csv"
PIXELS = 64


def options(description):
    """The options that all of the examples have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--master", default="local[4]", help="where Spark runs (%(default)s)")
    parser.add_argument("--ranks", type=int, default=4, help="how many tasks (%(default)s)")
    parser.add_argument("--data", default=str(DATA), help="CSV: 64 pixels of 0 to 16, and a digit")
    return parser


def session(master):
    """A session with the library, whatever Spark is around."""
    # The tasks get the Python of this program, also if its virtual environment is not activated.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("Spark Collectives example")
    # A line that a program prints is easier to see between no others.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = spark_collectives.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def images(spark, path):
    """Rows of ``pixels``, 64 numbers from 0 to 1; ``digit``; and ``held_out``, one row in five."""
    table = spark.read.csv(path, inferSchema=True)
    pixels = [F.col(name) / 16 for name in table.columns[:PIXELS]]
    return table.select(
        F.array(*pixels).alias("pixels"),
        F.col(table.columns[PIXELS]).cast("int").alias("digit"),
        (F.pmod(F.hash(*table.columns), F.lit(5)) == 0).alias("held_out"),
    )
