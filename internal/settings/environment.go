package settings

import "regexp"

var ofKubernetes = regexp.MustCompile(`^(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// AnnouncesService reports whether Kubernetes sets a variable whose name ends like this in every
// container. Such variables announce each service, and the name of a service may begin with a
// program's prefix.
func AnnouncesService(name string) bool { return ofKubernetes.MatchString(name) }
