package bench;

import com.alibaba.csp.sentinel.Entry;
import com.alibaba.csp.sentinel.SphU;
import com.alibaba.csp.sentinel.slots.block.BlockException;
import com.alibaba.csp.sentinel.slots.block.RuleConstant;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRule;
import com.alibaba.csp.sentinel.slots.block.flow.FlowRuleManager;
import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.VegasLimit;
import com.netflix.concurrency.limits.limit.WindowedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Cost measures acquire and release with room for all, as {@code BenchmarkCost} of bench/peers does in Go. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Cost {
  /** ROOM is the limit of whatever has one, so that nothing is refused. */
  private static final int ROOM = 1000;

  /** Shared has what needs no more than a constructor. */
  @State(Scope.Benchmark)
  public static class Shared {
    final AtomicInteger inFlight = new AtomicInteger();
    final Semaphore semaphore = new Semaphore(ROOM);
    final Bulkhead bulkhead =
        Bulkhead.of("bench", BulkheadConfig.custom().maxConcurrentCalls(ROOM).build());
    final Limiter<Void> gradient2 =
        simple(WindowedLimit.newBuilder().build(
            Gradient2Limit.newBuilder().minLimit(ROOM).maxConcurrency(ROOM).initialLimit(ROOM).build()));
    final Limiter<Void> vegas = simple(VegasLimit.newBuilder().maxConcurrency(ROOM).initialLimit(ROOM).build());

    private static Limiter<Void> simple(Limit limit) {
      return SimpleLimiter.newBuilder().limit(limit).build();
    }

    void add(int delta) {
      int n;
      do {
        n = inFlight.get();
      } while (!inFlight.compareAndSet(n, n + delta));
    }
  }

  /** Sentinel keeps its rules for the whole program. */
  @State(Scope.Benchmark)
  public static class Sentinel {
    @Setup
    public void rules() {
      FlowRule rule = new FlowRule("bench").setGrade(RuleConstant.FLOW_GRADE_THREAD).setCount(ROOM);
      FlowRuleManager.loadRules(List.of(rule));
    }
  }

  /** The least that anything which caps concurrency and measures latency has to do. */
  @Benchmark
  public long floor(Shared s) {
    s.add(1);
    long began = System.nanoTime();
    long took = System.nanoTime() - began;
    s.add(-1);
    return took;
  }

  @Benchmark
  public void semaphore(Shared s) {
    admitted(s.semaphore.tryAcquire());
    s.semaphore.release();
  }

  @Benchmark
  public void netflixGradient2(Shared s) {
    s.gradient2.acquire(null).orElseThrow().onSuccess();
  }

  @Benchmark
  public void netflixVegas(Shared s) {
    s.vegas.acquire(null).orElseThrow().onSuccess();
  }

  @Benchmark
  public void resilience4jBulkhead(Shared s) {
    admitted(s.bulkhead.tryAcquirePermission());
    s.bulkhead.onComplete();
  }

  @Benchmark
  public void sentinelThreads(Sentinel s) throws BlockException {
    Entry entry = SphU.entry("bench");
    entry.exit();
  }

  private static void admitted(boolean ok) {
    if (!ok) {
      throw new IllegalStateException("refused, and so cheaper than it seems");
    }
  }
}
