"""Clusters images of digits with k-means, in numpy, in a barrier stage.

Each rank assigns its own rows to the nearest centre; sums and counts are added up over all ranks.

    python examples/python/k_means.py --master "local[4]" --ranks 4
"""

import digits


def cluster(rows, clusters, iterations):
    """What each rank does with its rows; rank 0 yields the inertia of each step and the purity."""
    import numpy as np

    import spark_collectives as dist

    dist.init_process_group()
    rank = dist.get_rank()

    rows = list(rows)
    points = np.array([row.pixels for row in rows], np.float64).reshape(len(rows), -1)
    labels = np.array([row.digit for row in rows], np.int64)

    # Centres far from each other: the next one is the point that is farthest from all so far.
    centres = np.zeros((clusters, points.shape[1]))
    if rank == 0:
        centres[0] = points[0]
    dist.broadcast(centres[0], src=0)
    distances = squared_distances(points, centres[:1]).min(axis=1)
    for k in range(1, clusters):
        farthest = int(distances.argmax()) if len(points) else 0
        offers = [None] * dist.get_world_size()
        dist.all_gather_object(offers, float(distances[farthest]) if len(points) else -1.0)
        owner = int(np.argmax(offers))
        if rank == owner:
            centres[k] = points[farthest]
        dist.broadcast(centres[k], src=owner)
        distances = np.minimum(distances, squared_distances(points, centres[k : k + 1])[:, 0])

    for iteration in range(iterations):
        squares = squared_distances(points, centres)
        nearest = squares.argmin(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, points)
        counts = np.bincount(nearest, minlength=clusters).astype(np.float64)
        inertia = np.array([squares.min(axis=1).sum()])
        for each in (sums, counts, inertia):
            dist.all_reduce(each)
        moved = np.abs(sums / np.maximum(counts, 1)[:, None] - centres)[counts > 0].max()
        centres[counts > 0] = (sums / np.maximum(counts, 1)[:, None])[counts > 0]
        if rank == 0:
            print(f"step {iteration + 1:2d}: inertia {inertia[0]:.1f}", flush=True)
            yield "inertia", float(inertia[0])
        if moved < 1e-6:  # the same on all ranks, bit for bit, so that all stop together
            break

    table = np.zeros((clusters, 10))
    np.add.at(table, (nearest, labels), 1)
    dist.all_reduce(table)
    if rank == 0:
        yield "purity", float(table.max(axis=1).sum() / table.sum())


def squared_distances(points, centres):
    """The squared distance of each point to each centre."""
    return ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)


def main():
    parser = digits.options(__doc__.splitlines()[0])
    parser.add_argument("--clusters", type=int, default=16, help="how many (%(default)s)")
    parser.add_argument("--iterations", type=int, default=50, help="at the most (%(default)s)")
    arguments = parser.parse_args()
    clusters, iterations = arguments.clusters, arguments.iterations

    spark = digits.session(arguments.master)
    rows = digits.images(spark, arguments.data).repartition(arguments.ranks).rdd
    results = rows.barrier().mapPartitions(lambda part: cluster(part, clusters, iterations))
    print(f"images whose cluster has mostly their digit: {dict(results.collect())['purity']:.1%}")
    spark.stop()


if __name__ == "__main__":
    main()
