/** `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st` */
export function ordinal(place: number): string {
  const isTeen = place % 100 >= 11 && place % 100 <= 13
  const suffix = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th')
  return `${place}${suffix}`
}

/** `1 seat`, `2 seats` */
export function seatCount(seats: number): string {
  return seats === 1 ? '1 seat' : `${seats} seats`
}

/** `3rd of 7 families` */
export function placeInLine(place: number, families: number): string {
  return `${ordinal(place)} of ${families} ${families === 1 ? 'family' : 'families'}`
}

/** What a full class with a line shows: `Full. 7 families wait.` */
export function fullText(familiesWaiting: number): string {
  return familiesWaiting === 1 ? 'Full. 1 family waits.' : `Full. ${familiesWaiting} families wait.`
}

/** What waiting means, before a family joins the line and in the mail with its place. */
export function waitingTerms(seats: number): string {
  const wait =
    seats === 1
      ? 'You wait for 1 seat. We offer seats in order.'
      : `You wait for ${seats} seats together. We offer seats in order. If fewer are free than you need, the next family may take them, and you keep your place.`
  const offer =
    seats === 1
      ? 'When 1 is free we email you and hold it for 24 hours (less close to the start).'
      : `When ${seats} are free we email you and hold them for 24 hours (less close to the start).`
  return `${wait} ${offer} Nothing is charged now.`
}
