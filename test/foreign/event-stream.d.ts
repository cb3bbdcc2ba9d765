/** The data of each event, by a third-party parser. */
export function eventsIn(text: string): readonly string[]
