// biome-ignore lint/suspicious/noExplicitAny: tests examine fields that may be missing
type Body = any

/**
 * The body of the credits endpoint with the standard's names, whatever names a profile uses (G-09).
 */
export function flatBody(body: Body): Body {
  if (body?.balance !== undefined) return { ...body.balance, ...body.usage, ...body.ledger }
  if (body?.credits_left === undefined) return body
  return {
    total_granted: body.total_credits,
    total_consumed: body.total_used,
    total_expired: body.credits_lapsed,
    remaining: body.credits_left,
    from: body.period.since,
    to: body.period.until,
    consumed: body.used,
    requests: body.request_count,
    average_tokens_per_request: body.mean_tokens,
    by_day: body.daily.map(flatLine),
    by_hour: body.hourly.map(flatLine),
  }
}

function flatLine({ day, hour, used, requests }: Body): Body {
  return { date: day ?? hour.slice(0, 10), credits: used, requests }
}
