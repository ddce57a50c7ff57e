package org.sparkcollectives;

/** Specifies what every path between ranks must do. */
abstract class CollectivesContractTest extends PathsUnderTest
    implements ReductionsContract, DistributionContract, MessagesContract, EndOfGroupContract {}
