package org.sparkcollectives;

/** Objects among ranks, over every path. */
abstract class ObjectsContractTest extends PathsUnderTest
    implements ObjectExchangeContract, ObjectFailuresContract, ObjectCallEndsContract {}
