package org.sparkcollectives;

/** Runs the contracts of groups that are made from groups. */
class GroupsTest extends PathsUnderTest
    implements NewGroupsContract,
        SubgroupOptionsContract,
        GroupHandlesContract,
        GroupEndsContract {}
