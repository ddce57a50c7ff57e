package org.sparkcollectives;

/** What a work tells, and what waiting for it means, for every operation. */
abstract class WorkContractTest extends PathsUnderTest
    implements WaitingContract, WorkResultsContract {}
