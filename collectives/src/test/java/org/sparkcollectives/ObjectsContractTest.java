package org.sparkcollectives;

/** Runs the contracts of objects. */
abstract class ObjectsContractTest extends PathsUnderTest
    implements ObjectExchangeContract, ObjectFailuresContract, ObjectCallEndsContract {}
