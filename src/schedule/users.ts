/** A ramp of the users of a closed load. */
export interface UserRamp {
  readonly fromUsers: number
  readonly toUsers: number
  readonly rampUs: number
}

/** When user `user` (from 0) joins, in microseconds since the phase began; joins are spread evenly. */
export function joinsUs(ramp: UserRamp, user: number): number {
  if (user < ramp.fromUsers || ramp.toUsers <= ramp.fromUsers) return 0
  const place = user - ramp.fromUsers + 1
  return Math.floor((ramp.rampUs * place) / (ramp.toUsers - ramp.fromUsers))
}

/** When user `user` leaves, in microseconds since the phase began; Infinity if it does not. */
export function leavesUs(ramp: UserRamp, user: number): number {
  if (ramp.toUsers >= ramp.fromUsers || user < ramp.toUsers) return Infinity
  const place = ramp.fromUsers - user
  return Math.floor((ramp.rampUs * place) / (ramp.fromUsers - ramp.toUsers))
}
