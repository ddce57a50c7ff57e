package org.sparkcollectives;

/** Operations that hand parts around, and several operations as one, over every path. */
abstract class RedistributionContractTest extends PathsUnderTest
    implements PartsContract,
        SparseReductionsContract,
        MonitoredBarrierContract,
        CoalescingContract,
        RefusalsContract {}
