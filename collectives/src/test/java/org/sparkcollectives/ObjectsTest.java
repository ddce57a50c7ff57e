package org.sparkcollectives;

/** Runs the contracts of objects. */
class ObjectsTest extends PathsUnderTest
    implements ObjectExchangeContract, ObjectFailuresContract, ObjectCallEndsContract {}
