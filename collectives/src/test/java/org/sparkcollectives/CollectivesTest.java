package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of collectives and messages, of their statistics, and of how groups end. */
@MethodSource("org.sparkcollectives.testing.Paths#all")
class CollectivesTest extends PathsUnderTest
    implements ReductionsContract,
        DistributionContract,
        MessagesContract,
        EndOfGroupContract,
        StatisticsContract {}
