package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of persistent collectives. */
@MethodSource("org.sparkcollectives.testing.Paths#all")
class PersistentCollectivesTest extends PathsUnderTest
    implements PersistentContract, PersistentEndsContract {}
