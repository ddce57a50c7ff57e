package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of objects. */
@MethodSource("org.sparkcollectives.testing.Paths#some")
class ObjectsTest extends PathsUnderTest
    implements ObjectExchangeContract, ObjectFailuresContract, ObjectCallEndsContract {}
