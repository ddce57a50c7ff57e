package org.sparkcollectives.mesh;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The ranks of all meshes of one shape that lie side by side, such as all rows of a matrix. Each
 * block holds the global ranks of one of them in row-major order; no rank is in two blocks.
 *
 * @param shape the extent of each dimension
 * @param blocks the ranks of each mesh
 */
record MeshLayout(int[] shape, List<int[]> blocks) {

  /** Returns the layout of a single mesh. */
  static MeshLayout of(int[] shape, int[] ranks) {
    return new MeshLayout(shape, List.of(ranks));
  }

  /** Returns how many ranks one mesh has. */
  int size() {
    return product(shape);
  }

  /** Returns the mesh with this rank; null if there is none. */
  int[] block(int rank) {
    for (int[] block : blocks) {
      if (indexOf(block, rank) >= 0) {
        return block;
      }
    }
    return null;
  }

  /** Returns the coordinate of a rank in its mesh. */
  int[] coordinate(int rank) {
    int rest = indexOf(block(rank), rank);
    int[] coordinate = new int[shape.length];
    for (int dimension = shape.length - 1; dimension >= 0; dimension--) {
      coordinate[dimension] = rest % shape[dimension];
      rest /= shape[dimension];
    }
    return coordinate;
  }

  /**
   * Returns the layout of the meshes that only these dimensions span, in the order given, for all
   * coordinates in the others.
   */
  MeshLayout slice(int... dimensions) {
    int[] kept = Arrays.stream(dimensions).map(each -> shape[each]).toArray();
    int size = product(kept);
    List<int[]> slices = new ArrayList<>();
    for (int[] block : blocks) {
      int first = slices.size();
      for (int slice = 0; slice < block.length / size; slice++) {
        slices.add(new int[size]);
      }
      int[] coordinate = new int[shape.length];
      for (int rank : block) {
        int slice = 0;
        int place = 0;
        for (int dimension = 0; dimension < shape.length; dimension++) {
          if (indexOf(dimensions, dimension) < 0) {
            slice = slice * shape[dimension] + coordinate[dimension];
          }
        }
        for (int dimension : dimensions) {
          place = place * shape[dimension] + coordinate[dimension];
        }
        slices.get(first + slice)[place] = rank;
        advance(coordinate);
      }
    }
    return new MeshLayout(kept, slices);
  }

  /** Returns the layout of the same ranks with another shape of as many. */
  MeshLayout reshape(int... other) {
    return new MeshLayout(other, blocks);
  }

  /** Moves to the next coordinate in row-major order. */
  private void advance(int[] coordinate) {
    for (int dimension = shape.length - 1; dimension >= 0; dimension--) {
      coordinate[dimension]++;
      if (coordinate[dimension] < shape[dimension]) {
        return;
      }
      coordinate[dimension] = 0;
    }
  }

  /** Returns the product of the extents, 1 of none. */
  static int product(int... extents) {
    return Arrays.stream(extents).reduce(1, Math::multiplyExact);
  }

  static int indexOf(int[] values, int value) {
    for (int i = 0; i < values.length; i++) {
      if (values[i] == value) {
        return i;
      }
    }
    return -1;
  }
}
