/** The main navigation, in order. */
export const mainLinks = [
  { label: 'Home', to: '/' },
  { label: 'Robo Kids Learning', to: '/robokidslanding' },
  { label: 'Innovator Program', to: '/innovator' },
  { label: 'News & Guides', to: '/news-guides' },
  { label: 'Shop', to: '/shop' },
] as const

export const moreLinks = [
  { label: 'Membership', to: '/membership' },
  { label: 'About', to: '/about' },
  { label: 'FAQ', to: '/faq' },
  { label: 'Contact', to: '/contact' },
  { label: 'Follow Us', to: '/follow' },
] as const
