/** The tracking pages of the carriers that we ship with, by their names in lower case. */
const pages = new Map(
  Object.entries({
    ups: 'https://www.ups.com/track?tracknum=',
    usps: 'https://tools.usps.com/go/TrackConfirmAction?tLabels=',
    fedex: 'https://www.fedex.com/fedextrack/?trknbr=',
    dhl: 'https://www.dhl.com/us-en/home/tracking.html?tracking-id=',
  }),
)

/** Returns the carrier's page about a parcel; undefined for a carrier without a known one. */
export function trackingUrl(carrier: string, trackingNumber: string): string | undefined {
  const page = pages.get(carrier.trim().toLowerCase())
  return page === undefined ? undefined : page + encodeURIComponent(trackingNumber.trim())
}
