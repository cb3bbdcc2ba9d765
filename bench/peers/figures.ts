/** Of times in milliseconds; null where the tool does not tell it. */
export interface Times {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** What a tool says of its own run, or a server of what it served. */
export interface Figures {
  /** Requests that ended well. */
  readonly done: number
  readonly response?: Times
  readonly ttft?: Times
  readonly itl?: Times
  /** The tool's own judgement of its run, where it has one. */
  readonly verdict?: string
}

/** A run of one tool, as this bench saw it from outside. */
export interface Trial extends Figures {
  /** Of the whole process tree, its start and end included. */
  readonly cpuS: number
  readonly wallS: number
  /** The greatest sum of resident memory over the process tree, looked at ten times a second. */
  readonly peakMB: number
  /** By the server's own stamps; null for nginx, which keeps none. */
  readonly truth: (Figures & { readonly seconds: number }) | null
}

/** Percentiles under the names that a tool gives them, each times `scale` milliseconds. */
export function timesOf(
  table: Readonly<Record<string, unknown>> | undefined,
  names: readonly [p50: string, p95: string, p99: string],
  scale = 1,
): Times {
  const [p50, p95, p99] = names.map((name) => {
    const value = table?.[name]
    return typeof value === 'number' && Number.isFinite(value) ? value * scale : null
  })
  return { p50: p50!, p95: p95!, p99: p99! }
}
