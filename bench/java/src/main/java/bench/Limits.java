package bench;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.GradientLimit;
import com.netflix.concurrency.limits.limit.VegasLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Limits answers for Netflix's limits: samples come in on the standard input, and the limit after each
 * goes out on the standard output. Numbers are big-endian.
 *
 * <p>A question is a byte. {@code 0} makes a limit: kind and window in ms (0 for none), ints; whether it probes, a
 * byte; least, most and first limit, ints. The answer is its number. {@code 1} is a sample: number (int), start and
 * latency in ns (long), in flight (int), dropped (byte). The answer is the limit. {@code 2} is a sample that has no answer.
 */
public final class Limits {
  private static final int VEGAS_NEVER = Integer.MAX_VALUE;

  public static void main(String[] args) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
    List<Limit> limits = new ArrayList<>();
    while (true) {
      int question;
      try {
        question = in.readByte();
      } catch (EOFException end) {
        return;
      }
      if (question == 0) {
        limits.add(make(in.readInt(), in.readInt(), in.readBoolean(), in.readInt(), in.readInt(), in.readInt()));
        out.writeInt(limits.size() - 1);
      } else {
        Limit limit = limits.get(in.readInt());
        limit.onSample(in.readLong(), in.readLong(), in.readInt(), in.readBoolean());
        if (question == 2) {
          continue;
        }
        out.writeInt(limit.getLimit());
      }
      out.flush();
    }
  }

  private static Limit make(int kind, int window, boolean probes, int least, int most, int first) {
    Limit limit = bare(kind, probes, least, most, first);
    if (window == 0) {
      return limit;
    }
    return WindowedLimit.newBuilder()
        .minWindowTime(window, TimeUnit.MILLISECONDS)
        .maxWindowTime(window, TimeUnit.MILLISECONDS)
        .build(limit);
  }

  private static Limit bare(int kind, boolean probes, int least, int most, int first) {
    switch (kind) {
      case 0:
        GradientLimit.Builder gradient =
            GradientLimit.newBuilder().minLimit(least).maxConcurrency(most).initialLimit(first);
        return probes ? gradient.build() : gradient.probeInterval(-1).build();
      case 1:
        return Gradient2Limit.newBuilder().minLimit(least).maxConcurrency(most).initialLimit(first).build();
      case 2: // it has no least limit but 1
        VegasLimit.Builder vegas = VegasLimit.newBuilder().maxConcurrency(most).initialLimit(first);
        return probes ? vegas.build() : vegas.probeMultiplier(VEGAS_NEVER).build();
      case 3:
        return AIMDLimit.newBuilder().minLimit(least).maxLimit(most).initialLimit(first).build();
      default:
        throw new IllegalArgumentException("kind " + kind + ": want 0 to 3");
    }
  }
}
