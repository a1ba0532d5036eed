export const tagline = 'Empowering Kids to Build the Future with Robotic Engineering.'

/** The texts of the hero slides; the slider chooses their pictures. */
export const heroSlides = [
  {
    id: 'classes',
    title: 'Live classes, real robots',
    text: 'Your child builds and codes a robot on a live video call, in a small group, with a kit that we ship to your home.',
    action: 'View Classes',
    to: '/robokidslanding',
  },
  {
    id: 'innovator',
    title: 'From an idea to a company',
    text: 'The Innovator Program takes older students from a first sketch to a prototype, and on to a plan for a business.',
    action: 'Find Out More',
    to: '/innovator',
  },
  {
    id: 'guides',
    title: 'Something to build tonight',
    text: 'Free guides with wiring, code and troubleshooting: light an LED, drive a motor, turn a servo.',
    action: 'Start Learning',
    to: '/guides',
  },
] as const

export const values = [
  {
    id: 'foundations',
    title: 'Foundations of AI robotics',
    text: 'Circuits, sensors and code, one step at a time, until a robot decides for itself.',
  },
  {
    id: 'kits',
    title: 'Hands-on kits plus live coaching',
    text: 'The parts come in a box, the coach comes on the call. Your child does the building.',
  },
  {
    id: 'safe',
    title: 'Parent-friendly and safe',
    text: 'Small groups of 5 to 10 students, with a coach who knows each of them.',
  },
] as const

export const features = [
  {
    id: 'classes',
    title: 'Robotics classes',
    text: 'Four levels from a first rover to a robot of your child’s own invention.',
    action: 'View the classes',
    to: '/robokidslanding',
    accent: 'green',
  },
  {
    id: 'innovator',
    title: 'Innovator to CEO',
    text: 'A pilot mentorship for older students who want to start something.',
    action: 'See the program',
    to: '/innovator',
    accent: 'orange',
  },
  {
    id: 'guides',
    title: 'Guides',
    text: 'Wiring, code and tips to follow at your own table, free for everyone.',
    action: 'Read the guides',
    to: '/guides',
    accent: 'blue',
  },
] as const
