"""Fits a multinomial logistic regression to images of digits, in numpy, in a barrier stage.

Each rank computes the gradient of its own rows; the sum over all ranks is that of all rows.

    python examples/python/logistic_regression.py --master "local[4]" --ranks 4
"""

import digits


def fit(rows, steps, rate):
    """What each rank does with its rows; rank 0 yields some losses and the accuracy."""
    import numpy as np

    import spark_collectives as dist

    group = dist.init_process_group()
    rank = dist.get_rank()

    rows = list(rows)
    # A column of ones, whose weights are the intercepts.
    points = np.array([[*row.pixels, 1.0] for row in rows]).reshape(len(rows), -1)
    labels = np.array([row.digit for row in rows], np.int64)
    held_out = np.array([row.held_out for row in rows], bool)
    own, own_labels = points[~held_out], labels[~held_out]
    wanted = np.eye(10)[own_labels]

    count = np.array([float(len(own))])
    dist.all_reduce(count)

    # In memory that the executor's JVM shares: nothing is copied on the way.
    gradient = group.zeros((points.shape[1], 10), np.float64)
    weights = np.zeros_like(gradient)
    velocity = np.zeros_like(gradient)
    for step in range(steps):
        scores = own @ weights
        scores -= scores.max(axis=1, keepdims=True)
        exponentials = np.exp(scores)
        shares = exponentials / exponentials.sum(axis=1, keepdims=True)
        gradient[:] = own.T @ (shares - wanted) / count
        dist.all_reduce(gradient)
        velocity = 0.9 * velocity - rate * gradient
        weights += velocity
        if step % 20 == 0 or step == steps - 1:
            loss = np.array([-np.log(shares[np.arange(len(own)), own_labels]).sum()]) / count
            dist.all_reduce(loss)
            if rank == 0:
                print(f"step {step:3d}: loss {loss[0]:.4f}", flush=True)
                yield "loss", float(loss[0])

    right = (points[held_out] @ weights).argmax(axis=1) == labels[held_out]
    counts = np.array([right.sum(), len(right)], np.int64)
    dist.all_reduce(counts)
    if rank == 0:
        yield "accuracy", float(counts[0] / counts[1])


def main():
    parser = digits.options(__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="of gradient descent (%(default)s)")
    parser.add_argument("--rate", type=float, default=0.5, help="the learning rate (%(default)s)")
    arguments = parser.parse_args()
    steps, rate = arguments.steps, arguments.rate

    spark = digits.session(arguments.master)
    rows = digits.images(spark, arguments.data).repartition(arguments.ranks).rdd
    results = rows.barrier().mapPartitions(lambda part: fit(part, steps, rate)).collect()
    print(f"accuracy on images held out: {dict(results)['accuracy']:.1%}")
    spark.stop()


if __name__ == "__main__":
    main()
