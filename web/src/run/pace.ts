// How long it will still take, told only while the percentage grows steadily.

/** A percentage as it was at an instant, in seconds on any one clock. */
export interface Sample {
  at: number
  percent: number
}

const LOOK_BACK_SECONDS = 20
const LATELY_SECONDS = 6
const AT_LEAST_PERCENT = 10
const MOST_SAMPLES = 400

/** The samples with one more; those too old to matter are gone. A step back starts over. */
export function sampled(samples: readonly Sample[], next: Sample): Sample[] {
  const last = samples.at(-1)
  if (last && next.percent < last.percent) return [next]
  const recent = samples.filter((one) => next.at - one.at <= LOOK_BACK_SECONDS)
  return [...recent, next].slice(-MOST_SAMPLES)
}

/** Seconds left at the pace of late; null unless that pace is steady. */
export function secondsLeft(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.percent < AT_LEAST_PERCENT || last.at - first.at < LATELY_SECONDS * 1.5) return null
  const lately = samples.findLast((one) => last.at - one.at >= LATELY_SECONDS)
  if (!lately) return null
  const all = (last.percent - first.percent) / (last.at - first.at)
  const late = (last.percent - lately.percent) / (last.at - lately.at)
  if (all <= 0 || late <= 0 || Math.abs(late - all) > 0.3 * all) return null
  return (100 - last.percent) / all
}
