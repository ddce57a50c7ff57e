package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of works and of waiting for them, for every operation. */
@MethodSource("org.sparkcollectives.testing.Paths#some")
class WorkTest extends PathsUnderTest
    implements WaitingContract, WorkResultsContract, RecordNotesContract {}
