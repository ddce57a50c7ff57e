package org.sparkcollectives;

/** Runs the contracts of collectives and messages, and of how groups end. */
class CollectivesTest extends PathsUnderTest
    implements ReductionsContract, DistributionContract, MessagesContract, EndOfGroupContract {}
