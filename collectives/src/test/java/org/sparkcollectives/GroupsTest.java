package org.sparkcollectives;

import org.junit.jupiter.params.provider.MethodSource;

/** Runs the contracts of groups that are made from groups. */
@MethodSource("org.sparkcollectives.testing.Paths#all")
class GroupsTest extends PathsUnderTest
    implements NewGroupsContract,
        SubgroupOptionsContract,
        MergedGroupsContract,
        GroupHandlesContract,
        GroupEndsContract {}
