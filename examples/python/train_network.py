"""Trains a small convolutional network with PyTorch's DistributedDataParallel in a barrier stage.

Each task is a rank and trains on its own partition of a DataFrame; gradients are averaged by the
backend "spark". Needs torch:

    python examples/python/train_network.py --master "local[4]" --ranks 4
"""

import digits


def train(rows, epochs, batch, rate):
    """What each rank does with its rows; rank 0 yields the loss of each epoch and the accuracy."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    import spark_collectives.torch  # registers the backend

    torch.set_num_threads(1)  # each rank has one core
    dist.init_process_group("spark")
    rank = dist.get_rank()

    rows = list(rows)
    pixels = torch.tensor([row.pixels for row in rows], dtype=torch.float32).view(-1, 1, 8, 8)
    labels = torch.tensor([row.digit for row in rows])
    held_out = torch.tensor([row.held_out for row in rows])
    own, own_labels = pixels[~held_out], labels[~held_out]

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 10),
    )
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=rate, momentum=0.9)

    # Partitions differ in size, and every rank must take the same number of steps.
    steps = torch.tensor(len(own) // batch)
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)

    shuffling = torch.Generator().manual_seed(rank)
    for epoch in range(epochs):
        order = torch.randperm(len(own), generator=shuffling)
        total = torch.zeros(())
        for step in range(int(steps)):
            chosen = order[step * batch : (step + 1) * batch]
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(parallel(own[chosen]), own_labels[chosen])
            loss.backward()
            optimizer.step()
            total += loss.detach()
        mean = total / steps
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        if rank == 0:
            print(f"epoch {epoch + 1:2d} of {epochs}: loss {mean:.4f}", flush=True)
            yield "loss", float(mean)

    model.eval()
    with torch.no_grad():
        right = model(pixels[held_out]).argmax(1) == labels[held_out]
    counts = torch.tensor([int(right.sum()), len(right)])
    dist.all_reduce(counts)
    if rank == 0:
        yield "accuracy", float(counts[0]) / float(counts[1])
    dist.destroy_process_group()


def main():
    parser = digits.options(__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15, help="(%(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="images of a step and rank")
    parser.add_argument("--rate", type=float, default=0.05, help="the learning rate (%(default)s)")
    arguments = parser.parse_args()
    epochs, batch, rate = arguments.epochs, arguments.batch, arguments.rate

    spark = digits.session(arguments.master)
    rows = digits.images(spark, arguments.data).repartition(arguments.ranks).rdd
    results = rows.barrier().mapPartitions(lambda part: train(part, epochs, batch, rate)).collect()
    print(f"accuracy on images held out: {dict(results)['accuracy']:.1%}")
    spark.stop()


if __name__ == "__main__":
    main()
