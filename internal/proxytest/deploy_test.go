package proxytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// manifests decodes the documents of a Kubernetes file into the types of the API. A misspelt
// field is an error.
func manifests(t *testing.T, name string) (all []any) {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join(root(), "deploy", "kubernetes", name)))(t)
	for i, document := range bytes.Split(text, []byte("\n---\n")) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatalf("%s, document %d: %v", name, i+1, err)
		}
		var into any
		switch head.APIVersion + " " + head.Kind {
		case "v1 ConfigMap":
			into = new(core.ConfigMap)
		case "v1 Service":
			into = new(core.Service)
		case "apps/v1 Deployment":
			into = new(apps.Deployment)
		case "policy/v1 PodDisruptionBudget":
			into = new(policy.PodDisruptionBudget)
		case "networking.k8s.io/v1 NetworkPolicy":
			into = new(network.NetworkPolicy)
		case "gateway.networking.k8s.io/v1 HTTPRoute":
			into = new(gateway.HTTPRoute)
		default:
			t.Fatalf("%s, document %d: no type for %v", name, i+1, head)
		}
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s, document %d: %v", name, i+1, err)
		}
		all = append(all, into)
	}
	return all
}

var examples = []string{"sidecar.yaml", "gateway.yaml", "fleet.yaml"}

// TestManifests decodes the examples as Kubernetes would, and checks the references between
// them.
func TestManifests(t *testing.T) {
	for _, name := range examples {
		t.Run(name, func(t *testing.T) {
			var deployment *apps.Deployment // weir's is the last
			var config *core.ConfigMap
			var service *core.Service
			for _, m := range manifests(t, name) {
				switch m := m.(type) {
				case *apps.Deployment:
					deployment = m
				case *core.ConfigMap:
					config = m
				case *core.Service:
					service = m
				}
			}
			pod := deployment.Spec.Template.Spec
			all := slices.Concat(pod.InitContainers, pod.Containers)
			weir := all[slices.IndexFunc(all, func(c core.Container) bool { return c.Name == "weir" })]
			if name == "sidecar.yaml" && (len(pod.InitContainers) != 1 || *weir.RestartPolicy != core.ContainerRestartPolicyAlways) {
				t.Error("weir is no native sidecar")
			}
			ports := map[string]bool{}
			for _, port := range weir.Ports {
				ports[port.Name] = true
			}
			for _, probe := range []*core.Probe{weir.LivenessProbe, weir.ReadinessProbe} {
				if !ports[probe.HTTPGet.Port.StrVal] {
					t.Errorf("a probe asks port %s, which weir has not", probe.HTTPGet.Port.StrVal)
				}
			}
			if target := service.Spec.Ports[0].TargetPort.StrVal; !ports[target] {
				t.Errorf("the service leads to port %s, which weir has not", target)
			}
			if !*weir.SecurityContext.ReadOnlyRootFilesystem || !*pod.SecurityContext.RunAsNonRoot {
				t.Error("weir may write, or be root")
			}
			stops(t, pod, config.Data["weir.yaml"], name == "sidecar.yaml")
			if got := pod.Volumes[0].ConfigMap.Name; got != config.Name {
				t.Errorf("weir's file is in the ConfigMap %s, which is %s", got, config.Name)
			}
		})
	}
}

// stops checks the end of a pod. Kubernetes stops a sidecar after the other containers, so
// the other containers wait until requests stop arriving; without them, weir waits itself.
func stops(t *testing.T, pod core.PodSpec, file string, sidecar bool) {
	t.Helper()
	var c struct {
		Shutdown struct{ Wait, Grace meta.Duration }
	}
	must.Do(t, yaml.Unmarshal([]byte(file), &c))
	wait, grace := c.Shutdown.Wait.Duration, c.Shutdown.Grace.Duration
	if sidecar != (wait == 0) {
		t.Errorf("weir waits for %v", wait)
	}
	if sidecar {
		service := pod.Containers[0]
		if service.Lifecycle == nil || service.ReadinessProbe == nil {
			t.Fatal("the service neither waits nor says when it is ready")
		}
		wait = time.Duration(service.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	}
	if has := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; wait < 5*time.Second || has <= wait+grace {
		t.Errorf("the pod has %v to end, weir %v after %v", has, grace, wait)
	}
}

// TestConfigurations runs weir check on the files in the examples. Package internal/documents
// checks the files in documents.
func TestConfigurations(t *testing.T) {
	trial(t)
	for _, name := range examples {
		for _, m := range manifests(t, name) {
			config, ok := m.(*core.ConfigMap)
			if !ok {
				continue
			}
			file := must.Write(t, filepath.Join(t.TempDir(), "weir.yaml"), config.Data["weir.yaml"])
			if said, err := exec.Command(program(t, "weir"), "check", file).CombinedOutput(); err != nil {
				t.Errorf("%s: weir check: %v\n%s\n%s", name, err, said, config.Data["weir.yaml"])
			}
		}
	}
}

func TestUnit(t *testing.T) {
	trial(t)
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	text := must.Have(os.ReadFile(filepath.Join(root(), "deploy", "weir.service")))(t)
	file := filepath.Join(t.TempDir(), "weir.service")
	must.Write(t, file, strings.ReplaceAll(string(text), "/usr/local/bin/weir", program(t, "weir"))) // systemd checks that the program exists
	if said, err := exec.Command(analyze, "verify", file).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, said)
	}
}

// TestContainer builds the program as the Containerfile does: static, so that it runs in an
// image without a C library.
func TestContainer(t *testing.T) {
	trial(t)
	text := must.Have(os.ReadFile(filepath.Join(root(), "deploy", "Containerfile")))(t)
	file := filepath.Join(t.TempDir(), "weir")
	_, command, found := strings.Cut(string(text), "RUN ")
	command, _, _ = strings.Cut(command, "\n")
	if !found || !strings.Contains(command, "-o /weir ") {
		t.Fatal("the Containerfile has no line that builds /weir")
	}
	build := exec.Command("sh", "-c", strings.Replace(command, "-o /weir ", fmt.Sprintf("-o %s ", file), 1))
	build.Dir = root()
	build.Env = append(os.Environ(), "GOWORK=") // as in a fresh clone
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, said)
	}
	if said, err := exec.Command("env", "-i", file, "--version").CombinedOutput(); err != nil {
		t.Errorf("weir version: %v\n%s", err, said)
	}
	if said, _ := exec.Command("ldd", file).CombinedOutput(); !strings.Contains(string(said), "not a dynamic executable") {
		t.Errorf("ldd: %s", said)
	}
}

// A configured is a weir proxy with a configuration file that a test may change.
type configured struct {
	peer
	file, probes     string
	address, operate string
	to               []string
	protocol         string // protocol of the upstreams
}

// newConfigured chooses addresses and a file, but starts no process.
func newConfigured(t testing.TB, to ...peer) *configured {
	t.Helper()
	c := &configured{
		file: filepath.Join(t.TempDir(), "weir.yaml"), probes: tcptest.FreeAddress(t), address: tcptest.FreeAddress(t), operate: tcptest.FreeAddress(t), protocol: "http1",
	}
	for _, up := range to {
		c.to = append(c.to, up.url)
	}
	return c
}

func (c *configured) start(t testing.TB) {
	t.Helper()
	c.peer = peer{url: "http://" + c.address, admin: "http://" + c.operate}
	c.process = start(t, "weir", program(t, "weir"), "proxy", "--config", c.file)
	c.await(t, "http://"+c.probes+"/ready")
}

func (c *configured) write(t testing.TB, more string) {
	t.Helper()
	must.Write(t, c.file, fmt.Sprintf(`listeners:
  - address: %q
    trusted: [127.0.0.1] # the balancer, and whoever tries to smuggle past one
upstreams:
  api:
    addresses: ["%s"]
    protocol: %s
admin:
  address: %q
  pprof: true
probes:
  address: %q
%s`, c.address, strings.Join(c.to, `", "`), c.protocol, c.operate, c.probes, more))
}

func (c *configured) applied(t testing.TB, what string) bool {
	t.Helper()
	status, text := get(t, c.admin+"/-/weir/config")
	return status == 200 && strings.Contains(text, what)
}

var (
	goroutineTotal = regexp.MustCompile(`(?m)^goroutine profile: total (\d+)`)
	heapInUse      = regexp.MustCompile(`(?m)^# HeapInuse = (\d+)`)
)

// remains returns the number of goroutines of a proxy and, after a garbage collection, its
// heap in bytes.
func (p peer) remains(t testing.TB) (goroutines, heap float64) {
	t.Helper()
	return p.profiled(t, "goroutine?debug=1", goroutineTotal), p.profiled(t, "heap?gc=1&debug=1", heapInUse)
}

func (p peer) profiled(t testing.TB, profile string, what *regexp.Regexp) float64 {
	t.Helper()
	_, text := get(t, p.admin+"/debug/pprof/"+profile)
	m := what.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("/debug/pprof/%s does not say %v", profile, what)
	}
	return must.Have(strconv.ParseFloat(m[1], 64))(t)
}
