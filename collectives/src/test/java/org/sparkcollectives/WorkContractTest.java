package org.sparkcollectives;

/** Runs the contracts of works and of waiting for them, for every operation. */
abstract class WorkContractTest extends PathsUnderTest
    implements WaitingContract, WorkResultsContract {}
