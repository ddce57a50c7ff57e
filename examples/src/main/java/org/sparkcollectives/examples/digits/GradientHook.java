package org.sparkcollectives.examples.digits;

import java.util.Optional;
import org.sparkcollectives.ddp.BlockwiseInt8;
import org.sparkcollectives.ddp.BlockwiseInt8Options;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.PowerSgd;
import org.sparkcollectives.ddp.PowerSgdOptions;

/** The ways in which a reducer sends gradients. */
enum GradientHook {
  /** As they are. */
  NONE {
    @Override
    Optional<CommHook> create() {
      return Optional.empty();
    }
  },
  /** In half precision. */
  FLOAT16 {
    @Override
    Optional<CommHook> create() {
      return Optional.of(CommHooks.float16());
    }
  },
  /** As bytes, even within a host, where that is slower. */
  INT8 {
    @Override
    Optional<CommHook> create() {
      return Optional.of(new BlockwiseInt8(BlockwiseInt8Options.defaults().withAlways(true)));
    }
  },
  /** As the product of two thin matrices, from the third step on. */
  POWERSGD {
    @Override
    Optional<CommHook> create() {
      return Optional.of(
          new PowerSgd(PowerSgdOptions.defaults().withRank(4).withStart(2).withBatched(true)));
    }
  };

  /** Creates the hook of one reducer, if there is one. */
  abstract Optional<CommHook> create();
}
